import { createHash } from 'node:crypto'
import type { Command, CommandResult, Job } from '../../src/ports/host.ts'
import type { AgentBench } from './agent-bench.ts'
import type { Behaviour } from './fake-host.ts'

export interface PretendImage {
  /** As the registry keeps it. */
  readonly manifest: string
  readonly digest: string
}

interface PretendDeployment {
  readonly digest: string
  readonly serial: number
}

const imageRef = 'ostree/container/image/'

export const repository = 'registry.example:5000/os'

export function pretendImage(version: string, layers: readonly object[] = []): PretendImage {
  const config = { digest: digestOf(version), size: 10 }
  const manifest = JSON.stringify({
    schemaVersion: 2,
    config,
    layers: [{ digest: digestOf(version), size: 1000 }, ...layers],
  })
  return { manifest, digest: digestOf(manifest) }
}

export function digestOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`
}

/** rpm-ostree or bootc, skopeo, ostree and systemctl of one machine, as far as the driver speaks with them. */
export class PretendImageTools {
  /** By tag or digest. */
  readonly registry = new Map<string, PretendImage>()
  readonly blobs = new Map<string, string>()
  readonly asked: string[] = []
  deployments: readonly PretendDeployment[]
  booted: PretendDeployment
  staged: PretendDeployment | undefined
  kubelet: 'active' | 'failed' | 'activating' = 'active'
  isRegistryAway = false
  stagesInMs = 5000
  /** What the daemon of rpm-ostree is at: it goes on with it when who asked is gone. */
  transaction: readonly string[] | undefined
  /** Of a transaction that is told to end. */
  heedsCancel = true
  /** What stands before the image's name in an origin; bootc shows it as a word beside the name. */
  origin: { readonly prefix: string; readonly signature?: string | object } = { prefix: 'ostree-unverified-registry:' }
  /** What the kubelet in an image calls itself, by the image's digest; the others have none. */
  readonly kubelets = new Map<string, string>()
  readonly #fetched = new Set<string>()
  #checkedOut: string | undefined
  /** Answers a command instead of these tools. */
  override: (argv: readonly string[]) => CommandResult | undefined = () => undefined
  readonly #bench: AgentBench
  readonly #engine: 'rpm-ostree' | 'bootc'
  #starts = 1

  constructor(bench: AgentBench, engine: 'rpm-ostree' | 'bootc', image: PretendImage) {
    this.#bench = bench
    this.#engine = engine
    this.booted = { digest: image.digest, serial: 0 }
    this.deployments = [this.booted]
    this.putFile('/run/ostree-booted', '')
    bench.host.answer = (command) => this.#answer(command)
    bench.host.behave = (job) => this.#behave(job)
  }

  publish(tag: string, image: PretendImage): void {
    this.registry.set(tag, image)
    this.registry.set(image.digest, image)
  }

  /** The machine goes down, orderly or not, and up again; the agent with it. A person may pick another entry of the boot menu. */
  boot(how: 'orderly' | 'power loss', entry = 0): void {
    this.#bench.kill()
    if (this.staged && how === 'orderly') this.deployments = [this.staged, this.booted]
    this.staged = undefined
    this.transaction = undefined
    this.booted = this.deployments[entry] ?? this.booted
    this.#starts += 1
    this.#bench.host.losePower(() => 0)
    this.putFile('/run/ostree-booted', '')
    this.#bench.clock.loseTimers(30_000)
    this.#bench.restart()
  }

  /** Runs `boot` whenever the driver asks for it, until the order has ended. */
  async until(state: string): Promise<void> {
    for (;;) {
      const before = this.#bench.host.reboots
      await this.#bench.clock.until(() => this.#bench.order?.state === state || this.#bench.host.reboots > before)
      if (this.#bench.order?.state === state) return
      this.boot('orderly')
    }
  }

  #answer({ argv }: Command): CommandResult {
    this.asked.push(argv.join(' '))
    const answered = this.override(argv)
    if (answered) return answered
    const [program, ...args] = argv
    if (program === 'skopeo') return this.#skopeo(args)
    if (program === 'systemctl') return this.#systemctl(args)
    if (['mkdir', 'rm', 'mv'].includes(program ?? '')) return done()
    if (program?.endsWith('/kubelet') || program === 'kubelet') return this.#kubeletVersion(program)
    if (program === 'ostree' && args[0] === 'refs')
      return done([...this.#fetched].map((digest) => `${imageRef}${digest}\n`).join(''))
    if (program === 'ostree' && args[0] === 'show') return done(`'${args.at(-1)?.slice(imageRef.length)}'\n`)
    if (program === 'ostree' && args[0] === 'checkout') return this.#checkOut(args)
    if (program === '/bin/sh') return this.#rollBack()
    if (program === 'ostree' && args[0] === 'container') return args.includes('--help') ? done() : this.#pull(args)
    if (program === 'ostree' && args[1] === 'undeploy') return this.#undeploy()
    if (program !== this.#engine) return { exitCode: 127, stdout: '', stderr: '' }
    if (args[0] === 'status') return done(this.#engine === 'bootc' ? this.#bootc() : this.#rpmOstree())
    if (args[0] === 'cancel') return this.#cancel()
    if (this.transaction) return failed('error: Transaction in progress: rebase')
    if (args[0] === 'cleanup') return this.#cleanUp()
    return args.includes('--download-only') ? this.#pull(args) : this.#stage(args)
  }

  #behave({ argv }: Job): Behaviour {
    // Long work is given its time by `timeout -k 10 SECONDS`.
    const own = argv[0] === 'timeout' ? argv.slice(4) : argv
    if (own[0] === this.#engine && !own.includes('--download-only')) return this.#stageSlowly(own)
    const { exitCode, stdout, stderr } = this.#answer({ argv: own })
    return { ms: 5000, exitCode, output: `${stdout}${stderr}` }
  }

  #stageSlowly(argv: readonly string[]): Behaviour {
    const ms = this.stagesInMs
    this.asked.push(argv.join(' '))
    if (this.isRegistryAway) return { ms: 100, exitCode: 1, output: 'error: connection refused' }
    if (this.#engine === 'bootc') return { ms, exitCode: 0, effect: () => this.#stage(argv) }
    if (this.transaction) return { ms: 100, exitCode: 1, output: 'error: Transaction in progress: rebase' }
    this.transaction = argv
    this.#bench.clock.after(ms, () => {
      if (this.transaction !== argv) return
      this.transaction = undefined
      this.#stage(argv)
    })
    return { ms, exitCode: 0 }
  }

  #cancel(): CommandResult {
    if (this.heedsCancel) this.transaction = undefined
    return done()
  }

  #skopeo(args: readonly string[]): CommandResult {
    if (this.isRegistryAway) return failed('dial tcp 10.0.0.1:5000: connect: connection refused')
    if (args[1] === 'copy') return this.#copyClaims(args.at(-1) ?? '')
    const asked = args.at(-1) ?? ''
    const [, key = ''] = /(?:@|os:)([^@]+)$/.exec(asked) ?? []
    const image = this.registry.get(key)
    return image ? done(image.manifest) : failed(`reading manifest ${key} in ${repository}: manifest unknown`)
  }

  #copyClaims(destination: string): CommandResult {
    const folder = destination.slice('dir:'.length)
    for (const [digest, content] of this.blobs) this.putFile(`${folder}/${digest.slice('sha256:'.length)}`, content)
    return done()
  }

  /** As another program would: at once. */
  putFile(path: string, content: string): void {
    const kept = {
      mode: 0o644,
      owner: 'root',
      group: 'root',
      content,
      sha256: digestOf(content).slice('sha256:'.length),
    }
    for (const folder of ['/pretend', '/pretend/files']) this.#bench.disk.folders.add(folder)
    this.#bench.disk.putResult(`/pretend/files/${encodeURIComponent(path)}`, JSON.stringify(kept))
  }

  #systemctl(args: readonly string[]): CommandResult {
    if (args[0] === 'is-active') return { exitCode: 3, stdout: `${this.kubelet}\ninactive\n`, stderr: '' }
    if (args[0] !== 'show') return done()
    const start = `ExecMainStartTimestampMonotonic=${this.#starts}`
    return done(`ActiveState=${this.kubelet}\nSubState=running\nResult=success\nNRestarts=0\n${start}\n`)
  }

  #pull(args: readonly string[]): CommandResult {
    if (this.isRegistryAway) return failed('error: connection refused')
    if (!this.registry.has(digestIn(args))) return failed('manifest unknown')
    this.#fetched.add(digestIn(args))
    return done('Downloaded.')
  }

  #checkOut(args: readonly string[]): CommandResult {
    this.#checkedOut = args.at(-2)?.slice(imageRef.length)
    return this.kubelets.has(this.#checkedOut ?? '') ? done() : failed('No such file or directory')
  }

  /** Of this host, or the one that was taken out of an image. */
  #kubeletVersion(program: string): CommandResult {
    const version = this.kubelets.get((program === 'kubelet' ? this.booted.digest : this.#checkedOut) ?? '')
    return version === undefined ? { exitCode: 127, stdout: '', stderr: '' } : done(`Kubernetes ${version}\n`)
  }

  #stage(args: readonly string[]): CommandResult {
    if (this.isRegistryAway) return failed('error: connection refused')
    const first = this.staged ?? this.deployments[0]
    if (first?.digest === digestIn(args)) {
      return this.#engine === 'bootc' ? done('Image specification is unchanged.') : failed('Old and new refs are equal')
    }
    this.staged = { digest: digestIn(args), serial: 0 }
    return done()
  }

  /** Of all that stands before what is booted. */
  #cleanUp(): CommandResult {
    this.staged = undefined
    this.deployments = this.deployments.slice(this.deployments.indexOf(this.booted))
    return done()
  }

  /** Of the first alone. */
  #undeploy(): CommandResult {
    if (this.staged) this.staged = undefined
    else if (this.deployments[0] === this.booted) return failed('error: Cannot undeploy currently booted deployment 0')
    else this.deployments = this.deployments.slice(1)
    return done()
  }

  #rollBack(): CommandResult {
    this.staged = undefined
    this.deployments = this.deployments.toReversed()
    return done()
  }

  #rpmOstree(): string {
    const all = [...(this.staged ? [this.staged] : []), ...this.deployments]
    const deployments = all.map((one) => ({
      osname: 'os',
      checksum: one.digest.slice('sha256:'.length),
      serial: one.serial,
      booted: one === this.booted,
      staged: one === this.staged,
      version: 'some',
      'container-image-reference': `${this.origin.prefix}${repository}@${one.digest}`,
      'container-image-reference-digest': one.digest,
    }))
    const [, name = ''] = this.transaction ?? []
    const method = `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`
    return JSON.stringify({ deployments, transaction: this.transaction ? [method, ':1.34', '/one'] : null })
  }

  #bootc(): string {
    const entry = (one: PretendDeployment | undefined) =>
      one && {
        image: { image: this.#bootcImage(one), imageDigest: one.digest },
        ostree: { stateroot: 'os', checksum: one.digest.slice('sha256:'.length), deploySerial: one.serial },
      }
    const other = this.deployments.find((one) => one !== this.booted)
    const isQueued = other !== undefined && other === this.deployments[0]
    const status = { staged: entry(this.staged), booted: entry(this.booted), rollback: entry(other) }
    return JSON.stringify({ kind: 'BootcHost', status: { ...status, rollbackQueued: isQueued } })
  }

  #bootcImage({ digest }: PretendDeployment): object {
    const { signature } = this.origin
    return { image: `${repository}@${digest}`, transport: 'registry', ...(signature !== undefined && { signature }) }
  }
}

function digestIn(args: readonly string[]): string {
  return args.at(-1)?.split('@')[1] ?? ''
}

function done(stdout = ''): CommandResult {
  return { exitCode: 0, stdout, stderr: '' }
}

function failed(stderr: string): CommandResult {
  return { exitCode: 1, stdout: '', stderr }
}
