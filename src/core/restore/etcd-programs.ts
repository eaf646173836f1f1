// Which of etcd's own programs may open a snapshot. They are never downloaded: a host that runs etcd has them somewhere.

import { etcdMinorsBetween } from '../kubernetes/etcd-settings.ts'

export const etcdProgramNames = ['etcdutl', 'etcd'] as const
export type EtcdProgramName = (typeof etcdProgramNames)[number]

export interface OfferedProgram {
  readonly name: EtcdProgramName
  readonly path: string
  readonly version: string
  /** Where it was found, for people. */
  readonly from: string
}

/** What `etcdutl version` and `etcd --version` print; undefined for anything else. */
export function versionPrinted(name: EtcdProgramName, output: string): string | undefined {
  const line = name === 'etcd' ? /^etcd Version: (\d\S*)$/m : /^etcdutl version: (\d\S*)$/m
  return line.exec(output)?.[1]
}

/** A program opens what its own minor version or the one before has written. */
export function opensSnapshot(program: string, snapshot: string): boolean {
  const newer = etcdMinorsBetween(snapshot, program)
  return newer === 0 || newer === 1
}

/** The first of the snapshot's own minor version, else the first that can open it; any where its version is not known. */
export function chooseProgram(
  offers: readonly OfferedProgram[],
  name: EtcdProgramName,
  snapshot: string | undefined,
): OfferedProgram | undefined {
  if (snapshot === undefined) return offers.find((offer) => offer.name === name)
  const fitting = offers.filter((offer) => offer.name === name && opensSnapshot(offer.version, snapshot))
  return fitting.find(({ version }) => etcdMinorsBetween(snapshot, version) === 0) ?? fitting[0]
}

/** Why none of them will do. */
export function missingProgram(
  offers: readonly OfferedProgram[],
  name: EtcdProgramName,
  snapshot: string | undefined,
): string {
  const found = offers.filter((offer) => offer.name === name)
  if (found.length === 0) {
    return `no ${name} was found: not on the PATH, not in a running container of etcd, not in its image`
  }
  const list = found.map(({ version, from }) => `${version} (${from})`).join(', ')
  return `the snapshot is of etcd ${snapshot}, which none of these opens: ${name} ${list}`
}
