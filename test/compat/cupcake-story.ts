// What every story of CUPCAKE's resources needs: to apply a manifest, and to look at theirs and ours.

import { type CupcakeDirectUpdate, cupcakeDirectUpdates } from '../../src/api/cupcake.ts'
import { type DirectUpdate, directUpdates } from '../../src/api/direct-update.ts'
import type { Story } from '../scenario/story.ts'
import type { StoryCluster } from '../scenario/story-cluster.ts'
import { oneAnd } from '../scenario/story-nodes.ts'
import { installForeign, manifest } from './manifest.ts'

export const hour = 3_600_000
export const usual = { nodes: oneAnd(2) }

export const direct = ({ sim }: StoryCluster, name: string) =>
  sim.server.peek(cupcakeDirectUpdates, { name }) as CupcakeDirectUpdate | undefined
export const ours = ({ sim }: StoryCluster) => sim.server.peekAll(directUpdates) as readonly DirectUpdate[]
export const marks = (cluster: StoryCluster, name: string) => cluster.node(name)?.metadata.annotations ?? {}

export async function applies(story: Story, path: string): Promise<string> {
  await installForeign(story)
  const object = manifest(cupcakeDirectUpdates, `cupcake/${path}.yaml`)
  await story.person.creates(cupcakeDirectUpdates, object)
  return object.metadata.name ?? ''
}

export async function reaches({ cluster }: Story, name: string, phase: string): Promise<CupcakeDirectUpdate> {
  await cluster.until(`${name} is ${phase}`, () => direct(cluster, name)?.status?.phase === phase)
  return direct(cluster, name) as CupcakeDirectUpdate
}
