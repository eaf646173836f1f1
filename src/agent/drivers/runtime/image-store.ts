// The images a host's container runtime has, through crictl, or ctr where only containerd's own tool is there.

import { crictlImagesSchema } from '../../../api/kubernetes-output.ts'
import { kubeletArgument } from '../../../core/kubernetes/kubelet-arguments.ts'
import type { Host } from '../../../ports/host.ts'
import type { StepContext } from '../driver.ts'
import { answerOf, jsonAnswerOf } from '../host-answer.ts'
import { type LongWorkEnd, longWork } from '../long-work.ts'

export type PullOutcome =
  | { readonly pulled: true }
  | { readonly pulled: false; readonly because: 'ImageMissing' | 'DiskTooFull' | 'MayPass'; readonly message: string }

export interface ImageStore {
  /** Every name an image is known by. */
  list(signal: AbortSignal): Promise<readonly string[]>
  pull(context: StepContext, image: string, signal: AbortSignal): Promise<PullOutcome>
}

const pullTimeoutMs = 20 * 60_000
const ctr = ['ctr', '--namespace=k8s.io', 'images']

export async function findImageStore(host: Host, signal: AbortSignal): Promise<ImageStore | undefined> {
  if (await answers(host, 'crictl', signal)) return crictlStore(host, await crictlCommand(host))
  return (await answers(host, 'ctr', signal)) ? ctrStore(host) : undefined
}

/** Where the kubelet reaches the runtime; undefined: crictl's own settings name it. */
export async function runtimeEndpoint(host: Host): Promise<string | undefined> {
  const flags = (await host.files.read('/var/lib/kubelet/kubeadm-flags.env')) ?? ''
  const flag = kubeletArgument(flags, 'container-runtime-endpoint')
  if (flag !== undefined) return flag
  for (const name of ['instance-config.yaml', 'config.yaml']) {
    const text = (await host.files.read(`/var/lib/kubelet/${name}`)) ?? ''
    const set = /^containerRuntimeEndpoint:\s*["']?([^"'\s]+)["']?\s*$/m.exec(text)?.[1]
    if (set !== undefined) return set
  }
  return undefined
}

async function answers(host: Host, program: string, signal: AbortSignal): Promise<boolean> {
  return (await host.run({ argv: [program, '--version'] }, signal)).exitCode === 0
}

/** Told where the kubelet's runtime is: its own settings may name none, or another one. */
export async function crictlCommand(host: Host): Promise<readonly string[]> {
  const endpoint = await runtimeEndpoint(host)
  const endpoints = endpoint === undefined ? [] : [`--runtime-endpoint=${endpoint}`, `--image-endpoint=${endpoint}`]
  return ['crictl', ...endpoints]
}

function crictlStore(host: Host, crictl: readonly string[]): ImageStore {
  return {
    list: async (signal) => {
      const command = { argv: [...crictl, 'images', '--output=json'], outputBytes: 16 * 1024 * 1024 }
      const { images } = await jsonAnswerOf(host, command, crictlImagesSchema, signal)
      return images.flatMap(({ repoTags, repoDigests }) => [...(repoTags ?? []), ...(repoDigests ?? [])])
    },
    pull: pullBy([...crictl, 'pull']),
  }
}

function ctrStore(host: Host): ImageStore {
  return {
    list: async (signal) =>
      (await answerOf(host, { argv: [...ctr, 'list', '--quiet'] }, signal)).split('\n').filter((line) => line !== ''),
    pull: pullBy([...ctr, 'pull']),
  }
}

function pullBy(command: readonly string[]): ImageStore['pull'] {
  return async (context, image, signal) => {
    const work = { name: 'pull-image', argv: [...command, image], timeoutMs: pullTimeoutMs }
    return judgePull(image, await longWork(context, work, signal))
  }
}

/** What a registry says for good is told apart from what may pass: a network that is away, a registry under load. */
export function judgePull(image: string, { exitCode, output }: LongWorkEnd): PullOutcome {
  if (exitCode === 0) return { pulled: true }
  const said = output.trim()
  const message = `image ${image} could not be pulled: ${said.slice(-400)}`
  if (/no space left on device/i.test(said)) return { pulled: false, because: 'DiskTooFull', message }
  const never = /not found|manifest unknown|NotFound|name unknown|unauthorized|denied|no match for platform/i.test(said)
  return { pulled: false, because: never ? 'ImageMissing' : 'MayPass', message }
}
