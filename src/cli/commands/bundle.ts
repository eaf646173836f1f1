// slipway bundle: what an update without a network needs, in one file; no cluster is asked.

import { type Command, Option } from 'commander'
import { type BundleArchitecture, bundleArchitectures } from '../../api/bundle.ts'
import { bundlePlaces, partOf } from '../../core/bundle/bundle-path.ts'
import type { BundleLook } from '../../ports/bundles.ts'
import type { CommandContext, RunAction } from '../command-context.ts'
import { exitCode } from '../exit-code.ts'
import { withActivity } from '../progress/activity.ts'
import { writeLines } from '../table.ts'

interface CreateOptions {
  readonly output: string
  readonly architecture?: BundleArchitecture
}

export function addBundle(parent: Command, run: RunAction): void {
  const bundle = parent
    .command('bundle')
    .description('A bundle holds packages, images and programs for hosts that reach nothing else.')
    .addHelpText(
      'after',
      '\nExample:\n  slipway bundle create ./v1.36.3 -o bundle.tar && slipway bundle verify bundle.tar',
    )
  bundle
    .command('create <folder>')
    .summary('make a bundle of a folder')
    .description('Makes a bundle of a folder; the same files always make the same bundle.')
    .requiredOption('-o, --output <file>', 'where the bundle is written')
    .addOption(
      new Option('--architecture <name>', 'for which hosts it is, where no package in it tells').choices(
        bundleArchitectures,
      ),
    )
    .addHelpText('after', createHelp)
    .action(run(runCreate))
  bundle
    .command('verify <file>')
    .summary('check a bundle, and print what to write in a DirectUpdate')
    .description('Reads the whole bundle and compares it with its manifest.')
    .addHelpText(
      'after',
      `
Example:
  slipway bundle verify bundle.tar`,
    )
    .action(run(runVerify))
}

const createHelp = `
The folder holds nothing but:
  packages/deb/*.deb   packages for hosts with apt
  packages/rpm/*.rpm   packages for hosts with dnf
  images/*.tar         container images, as docker save or skopeo write them
  binaries/NAME        programs in one file, for spec.binary of the same name

Example:
  slipway bundle create ./v1.36.3 -o bundle.tar`

async function runCreate(context: CommandContext, folder: string, options: CreateOptions): Promise<number> {
  const { output, architecture } = options
  const bundles = await context.bundles()
  const look = await withActivity(context, `making ${output}`, () =>
    bundles.create({ folder, output, architecture }, context.signal),
  )
  return tell(context, output, look)
}

async function runVerify(context: CommandContext, file: string): Promise<number> {
  const bundles = await context.bundles()
  const look = await withActivity(context, `reading ${file}`, () => bundles.verify(file, context.signal))
  return tell(context, file, look)
}

function tell({ out }: CommandContext, file: string, look: BundleLook): number {
  const { manifest, sha256, bytes } = look
  const counts = bundlePlaces.flatMap(({ part, folder }) => {
    const count = manifest.files.filter(({ path }) => partOf(path) === part).length
    return count > 0 ? [`${count} in ${folder}`] : []
  })
  const megabytes = Math.ceil(bytes / 1e6)
  writeLines(out, [
    `${file} is whole: ${counts.join(', ')}; ${megabytes} MB for ${manifest.architecture}`,
    '',
    'In a DirectUpdate, with an address that every host reaches or a path where it lies on every host:',
    '',
    'spec:',
    '  airGapped:',
    '    bundle:',
    '      url: https://…',
    `      sha256: ${sha256}`,
  ])
  return exitCode.done
}
