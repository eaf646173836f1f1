// What a person does on the other hosts of etcd: only the host that was asked for a backup keeps where it went, and a folder on a
// host is nobody else's.

import type { RestoreRecord } from '../../api/restore-record.ts'
import { memberNames } from './member-site.ts'

/** Not over the one that host keeps of its own backups. */
const copyName = 'restore-from.json'

/** Empty where this is the only member. `hostRoot`: from a container, as it was said here. */
export function otherMembers(record: RestoreRecord, hostRoot?: string): readonly string[] {
  const { members, backup, site, restoreId, isFirst, source = {} } = record
  const others = memberNames(members).filter((member) => member !== site.name)
  if (others.length === 0) return []
  const { file, folder, settings, keyFile } = source
  const copied = settings?.replace(/\/backup-store\.json$/, `/${copyName}`)
  const objects = folder === undefined ? [] : [`${folder}/${backup.name}`, `${folder}/${backup.name}.json`]
  const copies = [
    ...(settings === undefined || copied === undefined ? [] : [[settings, copied] as const]),
    ...[file, keyFile, ...objects].flatMap((path) => (path === undefined ? [] : [[path, path] as const])),
  ]
  const place = copied === undefined ? { folder } : { settings: copied }
  const flags = { file, ...place, 'key-file': keyFile, members, 'restore-id': restoreId, 'host-root': hostRoot }
  const given = Object.entries(flags).flatMap(([flag, value]) => (value === undefined ? [] : [`--${flag} ${value}`]))
  // By its name: the newest may be another one by then.
  const named = file === undefined ? [backup.name] : []
  return [
    isFirst
      ? `This is the first host of the new restore ${restoreId}.`
      : `This host takes part in the restore ${restoreId}, which another host began.`,
    ...(copies.length === 0
      ? []
      : [`First copy from this host what ${others.join(' and ')} do not have, readable by root alone:`]),
    ...copies.map(([from, to]) => `  ${from} -> ${to}`),
    ...(copied === undefined ? [] : [`(${copied} holds credentials and keys in clear: remove it afterwards.)`]),
    `On ${others.join(' and on ')} run exactly (a host restored without this id never joins):`,
    `  ${['slipway backup restore', ...named, ...given].join(' ')}`,
    '',
  ]
}
