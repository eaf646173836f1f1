// slipway backup verify: reads a backup back wherever it is, and proves it where asked to; no cluster is asked.

import type { Command } from 'commander'
import type { BackupPlace, CheckedBackup } from '../../ports/backup-shelf.ts'
import { type PlaceOptions, placeOf, placeOptions, shelfOf } from '../backup-options.ts'
import type { CommandContext, RunAction } from '../command-context.ts'
import { exitCode } from '../exit-code.ts'
import { withActivity } from '../progress/activity.ts'
import { type Format, formatOption, writeValue } from '../structured-output.ts'
import { writeLines } from '../table.ts'

interface VerifyOptions extends PlaceOptions {
  readonly restore?: boolean
  readonly output: Format
}

export function addBackupVerify(parent: Command, run: RunAction): void {
  const command = parent
    .command('verify [name...]')
    .summary('read backups back and hold them against their manifests')
    .description(
      'Reads, decrypts and unpacks the backups named (default: the newest) and compares them with their manifests.',
    )
  placeOptions(command)
    .option('--restore', 'also restore each into a scratch etcd of its own, and read it there')
    .addOption(formatOption('table', 'json', 'yaml'))
    .addHelpText('after', help)
    .action(run(runVerify))
}

const help = `
Examples:
  slipway backup verify --folder /var/backups/etcd
  slipway backup verify --settings /var/lib/slipway/backup-store.json --restore
  slipway backup verify --file snapshot.db --restore --etcdutl ./etcdutl --etcd ./etcd`

async function runVerify(context: CommandContext, names: readonly string[], options: VerifyOptions): Promise<number> {
  const shelf = await shelfOf(context, options)
  const place: BackupPlace = placeOf(options)
  const checked: CheckedBackup[] = []
  for (const name of names.length > 0 ? names : [undefined]) {
    const backup = await withActivity(context, `reading ${name ?? 'the newest backup'}`, () =>
      shelf.check(place, name, options.restore === true, context.signal),
    )
    checked.push(backup)
    if (options.output === 'table') writeLines(context.out, [sentence(backup)])
  }
  if (options.output !== 'table') await writeValue(context, options.output, checked)
  return exitCode.done
}

function sentence({ manifest, location, look }: CheckedBackup): string {
  const what = `etcd ${manifest.etcd} at revision ${manifest.revision} or later, ${manifest.snapshotBytes} bytes`
  if (!look) return `${location} is whole: ${what} (the revision is the manifest's word: --restore reads it)`
  return `${location} restores: ${what}; the scratch etcd ${look.version} has ${look.keys} keys at revision ${look.revision}`
}
