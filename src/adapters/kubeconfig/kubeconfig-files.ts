// Finds the entries a context names, in one file or several: the first to say something wins, as with kubectl.

import { readFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { parse } from 'yaml'
import type { z } from 'zod'
import { SlipwayError } from '../../api/slipway-error.ts'
import { whyUnreadable, yamlFault } from '../../core/file-fault.ts'
import {
  type ClusterEntry,
  clusterSchema,
  contextSchema,
  fileSchema,
  type UserEntry,
  userSchema,
} from './kubeconfig-schema.ts'

type File = z.infer<typeof fileSchema> & { readonly path: string }

export interface Selected {
  readonly context: string
  readonly namespace: string | undefined
  readonly cluster: ClusterEntry
  readonly user: UserEntry
  /** Makes a path of the cluster's entry absolute: it is relative to the file that has the entry. */
  readonly clusterPath: (path: string) => string
  readonly userPath: (path: string) => string
  /** For messages: the file that names the user. */
  readonly userFile: string
}

/** `--kubeconfig`, else $KUBECONFIG, else ~/.kube/config. */
export function kubeconfigPaths(
  flag: string | undefined,
  env: { readonly KUBECONFIG?: string | undefined; readonly HOME?: string | undefined },
): readonly string[] {
  if (flag !== undefined) return [flag]
  const separator = process.platform === 'win32' ? ';' : ':'
  const listed = (env.KUBECONFIG ?? '').split(separator).filter((path) => path !== '')
  return listed.length > 0 ? [...new Set(listed)] : [join(env.HOME ?? '/', '.kube', 'config')]
}

/** Of all files, each once, in the order in which they stand there. */
export async function contextNames(paths: readonly string[]): Promise<readonly string[]> {
  const files = await Promise.all(paths.map(readConfig))
  return [...new Set(files.flatMap((file) => file?.contexts?.flatMap(({ name }) => name ?? []) ?? []))]
}

export async function readSelected(paths: readonly string[], wantedContext: string | undefined): Promise<Selected> {
  const files = (await Promise.all(paths.map(readConfig))).filter((file) => file !== undefined)
  const [first] = files
  if (first === undefined) {
    throw new SlipwayError('KubeconfigMissing', `there is no kubeconfig at ${paths.join(' or ')}`, {
      nextStep: 'pass --kubeconfig FILE or set KUBECONFIG',
    })
  }
  const current = files.find((file) => file['current-context'])
  const name = wantedContext ?? current?.['current-context'] ?? ''
  if (name === '') {
    throw broken(
      first.path,
      'no current-context is set',
      'pass --context NAME or run "kubectl config use-context NAME"',
    )
  }
  const others = 'pass --context NAME with one that is there'
  const context = find(files, 'contexts', name, 'context', contextSchema, current?.path ?? first.path, others)
  const cluster = find(files, 'clusters', context.value.cluster, 'cluster', clusterSchema, context.path)
  const userName = context.value.user ?? ''
  const user =
    userName === ''
      ? { value: {}, path: context.path }
      : find(files, 'users', userName, 'user', userSchema, context.path)
  return {
    context: name,
    namespace: context.value.namespace,
    cluster: cluster.value,
    user: user.value,
    clusterPath: (path) => (isAbsolute(path) ? path : resolve(dirname(cluster.path), path)),
    userPath: (path) => (isAbsolute(path) ? path : resolve(dirname(user.path), path)),
    userFile: user.path,
  }
}

export function broken(path: string, what: string, nextStep = 'correct the file', cause?: unknown): SlipwayError {
  return new SlipwayError('KubeconfigBroken', `kubeconfig ${path}: ${what}`, { nextStep, cause })
}

async function readConfig(path: string): Promise<File | undefined> {
  let content: string
  try {
    content = await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw broken(path, `it cannot be read: ${whyUnreadable(error)}`, 'pass --kubeconfig FILE or set KUBECONFIG', error)
  }
  let parsed: unknown
  try {
    parsed = parse(content)
  } catch (error) {
    throw broken(path, `it is not YAML: ${yamlFault(error)}`, undefined, error)
  }
  const checked = fileSchema.safeParse(parsed ?? {})
  if (!checked.success) throw broken(path, explain(checked.error))
  return { ...checked.data, path }
}

function find<S extends z.ZodType>(
  files: readonly File[],
  kind: 'clusters' | 'users' | 'contexts',
  name: string,
  field: 'cluster' | 'user' | 'context',
  schema: S,
  namedIn: string,
  nextStep?: string,
): { readonly value: z.infer<S>; readonly path: string } {
  for (const file of files) {
    const entry = file[kind]?.find((candidate) => candidate.name === name)
    if (entry === undefined) continue
    const checked = schema.safeParse(entry[field] ?? {})
    if (!checked.success) throw broken(file.path, `${kind} "${name}": ${explain(checked.error)}`)
    return { value: checked.data, path: file.path }
  }
  const known = files.flatMap((file) => file[kind] ?? []).map((entry) => entry.name)
  const among = known.length === 0 ? 'there are none' : `there are ${known.slice(0, 5).join(', ')}`
  throw broken(namedIn, `"${name}" is not among the ${kind}: ${among}`, nextStep)
}

function explain(error: z.ZodError): string {
  const [issue] = error.issues
  if (issue === undefined) return error.message
  return issue.path.length === 0 ? issue.message : `${issue.path.join('.')}: ${issue.message}`
}
