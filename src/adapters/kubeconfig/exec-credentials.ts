// Credentials from a program, as cloud providers hand them out: client.authentication.k8s.io/v1 and v1beta1.

import { execFile } from 'node:child_process'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { Clock } from '../../ports/clock.ts'
import type { KubeCredential, KubeCredentials } from '../../ports/kube-connection.ts'
import { type ExecEntry, execCredentialSchema } from './kubeconfig-schema.ts'

const runMs = 60_000
/** Renew a little before the end: the request still has to travel. */
const marginMs = 10_000

export interface ExecPlugin {
  readonly entry: ExecEntry
  /** Absolute, or a name to be looked up in PATH. */
  readonly command: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The cluster as `provideClusterInfo` wants it. */
  readonly cluster: Readonly<Record<string, unknown>>
}

export class ExecCredentials implements KubeCredentials {
  readonly #plugin: ExecPlugin
  readonly #clock: Clock
  #last: { readonly credential: KubeCredential; readonly endsMs: number } | undefined
  #running: Promise<KubeCredential> | undefined

  constructor(plugin: ExecPlugin, clock: Clock) {
    this.#plugin = plugin
    this.#clock = clock
  }

  current(): Promise<KubeCredential> {
    if (this.#last !== undefined && this.#clock.now().getTime() < this.#last.endsMs) {
      return Promise.resolve(this.#last.credential)
    }
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  refused(): void {
    this.#last = undefined
  }

  async #run(): Promise<KubeCredential> {
    const output = await this.#output()
    let parsed: unknown
    try {
      parsed = JSON.parse(output)
    } catch (error) {
      throw this.#failure('did not print JSON', error)
    }
    const checked = execCredentialSchema.safeParse(parsed)
    if (!checked.success) throw this.#failure('did not print an ExecCredential', checked.error)
    const { apiVersion, status } = checked.data
    const wanted = this.#plugin.entry.apiVersion
    if (apiVersion !== wanted) throw this.#failure(`printed ${apiVersion}, the kubeconfig asks for ${wanted}`)
    const { token, clientCertificateData: certificate, clientKeyData: key, expirationTimestamp } = status
    if (token === undefined && (certificate === undefined || key === undefined)) {
      throw this.#failure('printed neither a token nor a certificate with its key')
    }
    const credential = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(certificate === undefined || key === undefined ? {} : { certificate: { certificate, key } }),
    }
    const endsMs = expirationTimestamp ? Date.parse(expirationTimestamp) - marginMs : Number.POSITIVE_INFINITY
    this.#last = { credential, endsMs }
    return credential
  }

  #output(): Promise<string> {
    const { entry, command, env, cluster } = this.#plugin
    const info = {
      apiVersion: entry.apiVersion,
      kind: 'ExecCredential',
      spec: { interactive: false, ...(entry.provideClusterInfo === true ? { cluster } : {}) },
    }
    const extra = Object.fromEntries((entry.env ?? []).map(({ name, value }) => [name, value]))
    const options = {
      env: { ...env, ...extra, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
      timeout: runMs,
      maxBuffer: 1 << 20,
    }
    return new Promise((resolve, reject) => {
      const child = execFile(command, entry.args ?? [], options, (error, stdout, stderr) => {
        if (error === null) resolve(stdout)
        else reject(this.#failure(failureText(error, stderr), error))
      })
      child.stdin?.end()
    })
  }

  #failure(what: string, cause?: unknown): SlipwayError {
    const { entry, command } = this.#plugin
    const hint = entry.installHint?.trim().split('\n')[0]
    return new SlipwayError('KubeconfigBroken', `the kubeconfig’s exec plug-in ${command} ${what}`, {
      nextStep: hint === undefined || hint === '' ? 'run it by hand, or log in again' : hint,
      cause,
    })
  }
}

function failureText(error: Error, stderr: string): string {
  if ('code' in error && error.code === 'ENOENT') return 'is not installed'
  if ('killed' in error && error.killed === true) return `did not end within ${runMs / 1000} s`
  const last = stderr.trim().split('\n').at(-1) ?? ''
  const code = 'code' in error ? ` with ${String(error.code)}` : ''
  return last === '' ? `failed${code}` : `failed${code}: ${last.slice(0, 300)}`
}
