// Housekeeper's Update as a DirectUpdate of ours. Golden pairs: housekeeper.test.ts.

import { type DirectUpdateSpec, directUpdateSpecSchema } from '../../api/direct-update.ts'
import { type HousekeeperUpdate, housekeeperSpecSchema, stampFolder } from '../../api/housekeeper.ts'
import { absolutePath } from '../../api/scalars.ts'
import { parseImageReference } from '../../core/image/reference.ts'
import { checked, readSpec, type Translated } from './translation.ts'

/** The fields of ours that follow theirs; whatever else is set on ours is a person's, and stays. */
export const housekeeperFields = ['os', 'kubernetes', 'stamps', 'strategy', 'drain'] as const

const mostAtOnce = 100_000

export function translateUpdate({ spec }: Pick<HousekeeperUpdate, 'spec'>): Translated<DirectUpdateSpec> {
  const read = readSpec(housekeeperSpecSchema, spec)
  if ('refusal' in read) return read
  const image = (read.value.osImageURL ?? '').trim()
  const version = (read.value.kubeVersion ?? '').trim()
  if (image === '' && version === '') {
    return { refusal: 'spec names nothing to do: set osImageURL, kubeVersion or both' }
  }
  if (image !== '' && !parseImageReference(image)) {
    return {
      refusal: `spec.osImageURL "${image}" is no image: write it as REPOSITORY/NAME:TAG or REPOSITORY/NAME@sha256:…`,
    }
  }
  const notes: string[] = []
  const stamps = stampsOf(image, version)
  const ours: DirectUpdateSpec = {
    ...(version !== '' && { kubernetes: { version } }),
    ...(image !== '' && { os: { image } }),
    ...(stamps.length > 0 && { stamps: [...stamps] }),
    strategy: { maxUnavailable: atOnce(read.value.maxUnavailable, notes) },
    // It never deletes in spite of a budget: forced means that pods which nothing makes again go, too.
    drain: { unmanagedPods: read.value.evictPodForce ? 'Delete' : 'Block', emptyDir: 'Delete' },
  }
  return checked(directUpdateSpecSchema, ours, notes, {
    'kubernetes.version': 'spec.kubeVersion',
    'os.image': 'spec.osImageURL',
    strategy: 'spec.maxUnavailable',
  })
}

function atOnce(given: number | undefined, notes: string[]): number {
  if (given === undefined) return 1
  if (given < 1) notes.push(`maxUnavailable: with ${given} no worker would ever be updated, so it is one at a time`)
  return Math.min(Math.max(1, given), mostAtOnce)
}

/** Named as its daemon names them: by what follows the last colon of the image, and by the version as it is written. */
function stampsOf(image: string, version: string): readonly string[] {
  const [, tag = ''] = /:([^:/]+)$/.exec(image.split('/').at(-1) ?? '') ?? []
  const files = [
    ...(tag === '' ? [] : [`${stampFolder}/os/${tag}.stamp`]),
    ...(version === '' ? [] : [`${stampFolder}/kube/${version}.stamp`]),
  ]
  return files.filter((path) => absolutePath.safeParse(path).success)
}
