// What the commands for backups share: where backups are, and etcd's programs.

import type { Command } from 'commander'
import type { BackupPlace, BackupShelf } from '../ports/backup-shelf.ts'
import type { CommandContext } from './command-context.ts'

export interface PlaceOptions {
  readonly file?: string
  readonly folder?: string
  readonly settings?: string
  readonly keyFile?: string
  readonly etcdutl?: string
  readonly etcd?: string
  readonly stateDir: string
  readonly hostRoot: string
  readonly manifests: string
}

export function placeOptions(command: Command): Command {
  return command
    .option('--folder <path>', 'a folder with backups and their manifests')
    .option('--settings <file>', 'the store and its secrets, as JSON (default: what the agent of this host keeps)')
    .option('--file <path>', 'a bare snapshot, as etcdctl writes it')
    .option('--key-file <path>', 'a file with the key the backup is encrypted with')
    .option('--etcdutl <path>', 'etcdutl (default: of the PATH, of etcd’s container or image)')
    .option('--etcd <path>', 'etcd, for the scratch etcd (default: as etcdutl)')
    .option('--state-dir <path>', 'the agent’s folder', '/var/lib/slipway')
    .option('--host-root <path>', 'where the host’s root is seen, from a container of it', '/')
    .option('--manifests <path>', 'the folder of the host’s static pods', '/etc/kubernetes/manifests')
}

export function placeOf({ file, folder, settings, keyFile }: PlaceOptions): BackupPlace {
  return { file, folder, settings, keyFile }
}

export function shelfOf(context: CommandContext, options: PlaceOptions): Promise<BackupShelf> {
  const { etcdutl, etcd, stateDir, hostRoot, manifests } = options
  return context.backupShelf({ etcdutl, etcd, stateDir, hostRoot, manifests })
}
