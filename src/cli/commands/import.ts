// slipway import kured|kustodian|suc: another tool's settings as ours.

import type { Command } from 'commander'
import { objectName } from '../../api/scalars.ts'
import type { Imported } from '../../core/import/imported.ts'
import { importKured } from '../../core/import/kured.ts'
import { importKustodian } from '../../core/import/kustodian.ts'
import { importPlans } from '../../core/import/suc.ts'
import type { CommandContext, RunAction } from '../command-context.ts'
import { exitCode } from '../exit-code.ts'
import { applyImported } from '../import/apply-imported.ts'
import { importedYaml, remarkLines } from '../import/import-text.ts'
import { readDaemonSet, readPlans, type SourceOptions } from '../import/read-source.ts'
import { textOf } from '../usage.ts'

interface ImportOptions extends SourceOptions {
  readonly apply?: boolean
  readonly force?: boolean
  readonly lock?: boolean
  readonly namespace: string
}

interface Source {
  readonly imported: Imported
  readonly from: readonly string[]
}

type Read = (context: CommandContext, options: ImportOptions) => Promise<Source>

export function addImport(parent: Command, run: RunAction): void {
  const command = parent
    .command('import')
    .description(
      'Prints what another tool is set up to do as resources of Slipway, with a word on every flag or field that is different here or has no equivalent.',
    )
    .addHelpText(
      'after',
      `
Examples:
  slipway import kured > policy.yaml
  slipway import kured -f kured-ds.yaml --apply
  slipway import kustodian --daemonset kube-system/kustodian --lock
  slipway import suc -f plans.yaml`,
    )
  addSource(command, 'kured', 'its DaemonSet as a MaintenancePolicy', run, fromKured)
  addSource(command, 'kustodian', 'its DaemonSet as a MaintenancePolicy', run, fromKustodian)
  addSource(command, 'suc', 'Plans of system-upgrade-controller as DirectUpdates, which are paused', run, fromPlans)
}

function addSource(parent: Command, name: string, summary: string, run: RunAction, read: Read): void {
  const command = parent
    .command(name)
    .summary(summary)
    .description(`Prints ${summary}, or writes it with --apply. What is different here or has no equivalent is told.`)
    .addHelpText('after', `\nExamples:\n  slipway import ${name}\n  slipway import ${name} -f manifests.yaml --apply`)
    .option('-f, --filename <file>', 'its manifests; by default they are read from the cluster')
    .option('--apply', 'write it to the cluster in place of printing it')
    .option('--force', 'with --apply: also change what says otherwise there; the difference is shown')
    .option(
      '--namespace <name>',
      "the operator's namespace",
      textOf(objectName, 'It must be a namespace name.'),
      'slipway-system',
    )
  if (name !== 'suc') {
    command
      .option('--daemonset <namespace/name>', 'which one, where there are several')
      .option('--lock', 'honour and take its lock, while both run')
  }
  command.action(run((context, options: ImportOptions) => runImport(context, options, read)))
}

async function runImport(context: CommandContext, options: ImportOptions, read: Read): Promise<number> {
  const { imported, from } = await read(context, options)
  if (!options.apply) {
    context.out.write(importedYaml(imported, from, await context.yaml()))
    return exitCode.done
  }
  await applyImported(context, imported, options.force ?? false)
  for (const line of remarkLines(imported.remarks)) context.out.write(`${line}\n`)
  return exitCode.done
}

const fromKured: Read = async (context, options) => {
  const { value, what } = await readDaemonSet(context, 'kured', options)
  return { imported: importKured(value, { lock: options.lock ?? false }), from: [what] }
}

const fromKustodian: Read = async (context, options) => {
  const { value, what } = await readDaemonSet(context, 'kustodian', options)
  return { imported: importKustodian(value, { lock: options.lock ?? false }), from: [what] }
}

const fromPlans: Read = async (context, options) => {
  const found = await readPlans(context, options)
  const plans = found.map(({ value }) => value)
  const imported = importPlans(plans, { namespace: options.namespace, sha256: context.sha256 })
  return { imported, from: found.map(({ what }) => what) }
}
