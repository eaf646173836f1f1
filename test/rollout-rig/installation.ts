// Slipway installed as the README says, `slipway install --print | kubectl apply --server-side -f -`, and credentials of its accounts.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { plainRequests } from '../apiserver/plain-request.ts'
import { writeKubeconfig } from '../apiserver/real-client.ts'
import type { ApiServer } from '../bed/api-server.ts'
import { findPrograms, sayToStderr } from '../bed/programs.ts'
import { ownProgram, runSlipway } from './slipway-process.ts'

export const namespace = 'slipway-system'

const tokenSchema = z.object({ status: z.object({ token: z.string() }) })
const claimsSchema = z.object({ jti: z.string() })

export async function installSlipway(server: ApiServer, ...options: readonly string[]): Promise<void> {
  await installFrom(ownProgram, server, ...options)
}

/** What that program prints for it, over whatever was installed before. */
export async function installFrom(program: string, server: ApiServer, ...options: readonly string[]): Promise<void> {
  await kubectl(server, ['apply', '--server-side', '-f', '-'], await printed(program, options))
  await kubectl(server, ['wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s'])
}

/** What `slipway install --print` prints with these options. */
export async function installation(...options: readonly string[]): Promise<string> {
  return await printed(ownProgram, options)
}

async function printed(program: string, options: readonly string[]): Promise<string> {
  const { code, out, err } = await runSlipway(['install', '--print', '--namespace', namespace, ...options], {}, program)
  if (code !== 0) throw new Error(`slipway install --print ended with ${code}: ${err}`)
  return out
}

export async function kubectl(server: ApiServer, args: readonly string[], input = ''): Promise<string> {
  const programs = await findPrograms(sayToStderr)
  // What it remembers of an API server goes by the address, and another one had it before.
  const own = [`--kubeconfig=${server.kubeconfigPath}`, `--cache-dir=${server.dir}/kubectl-cache`]
  const child = spawn(programs('kubectl'), [...own, ...args])
  const ended = once(child, 'exit')
  child.stdin.end(input)
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}: ${err}`)
  return out
}

export interface AccountAccess {
  readonly kubeconfig: string
  /** How the audit log names this very credential. */
  readonly credentialId: string
}

/** A kubeconfig with a token of that service account, and so with its rights and no others; bound to a node like a pod's. */
export async function accountAccess(
  server: ApiServer,
  account: 'slipway-operator' | 'slipway-agent',
  fileName: string,
  node?: { readonly name: string; readonly uid: string },
): Promise<AccountAccess> {
  const send = await plainRequests(server.kubeconfigPath)
  const boundObjectRef = node && { apiVersion: 'v1', kind: 'Node', ...node }
  const { body } = await send('POST', `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`, {
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 7200, ...(boundObjectRef && { boundObjectRef }) },
    },
  })
  const { token } = tokenSchema.parse(body).status
  const claims = claimsSchema.parse(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')))
  return { kubeconfig: await writeKubeconfig(server, fileName, { token }), credentialId: `JTI=${claims.jti}` }
}
