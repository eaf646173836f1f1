import type { Work } from '../../api/work.ts'

/** Whether a host has something to fetch and check that may take long or fail: then it does so before it is drained. */
export function needsStaging({ bundle, profile, jobs, os, kubernetes, binary }: Work): boolean {
  return (
    Boolean(bundle ?? profile ?? os ?? kubernetes ?? binary) || (jobs?.some(({ url }) => url !== undefined) ?? false)
  )
}
