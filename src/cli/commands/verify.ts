// slipway verify: whether a release is what its makers signed; no network, no cluster.

import type { Command } from 'commander'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { ReleaseLook } from '../../ports/signed-releases.ts'
import type { CommandContext, RunAction } from '../command-context.ts'
import { exitCode } from '../exit-code.ts'
import { type Format, formatOption, writeValue } from '../structured-output.ts'
import { writeLines } from '../table.ts'

interface VerifyOptions {
  readonly key?: readonly string[]
  readonly output: Format
}

export function addVerify(parent: Command, run: RunAction): void {
  parent
    .command('verify')
    .summary('check that a release is what was signed')
    .description(
      'Checks signature, checksums, SBOM and provenance of a downloaded release, without a network. Of a file it checks that alone; the SHA256SUMS and SHA256SUMS.sig of its release must lie beside it.',
    )
    .argument('<path>', 'the folder of a release, or a file in it')
    .option(
      '--key <file>',
      'the public key (PEM) it must be signed with; may be repeated (default: those this program was built with)',
      (file: string, files: readonly string[] = []) => [...files, file],
    )
    .addOption(formatOption('table', 'json', 'yaml'))
    .addHelpText(
      'after',
      `
Examples:
  slipway verify ./slipway-1.0.0
  slipway verify ./slipway-1.0.0-linux-amd64.tar.gz
  slipway verify ./slipway-1.0.0 --key release-key.pem`,
    )
    .action(run(runVerify))
}

async function runVerify(context: CommandContext, path: string, options: VerifyOptions): Promise<number> {
  const keys: string[] = []
  for (const file of options.key ?? []) keys.push(await readKey(context, file))
  const look = await (await context.signedReleases()).verify(path, keys, context.signal)
  if (options.output !== 'table') await writeValue(context, options.output, { path, ...look })
  else writeLines(context.out, said(path, look))
  return exitCode.done
}

async function readKey(context: CommandContext, file: string): Promise<string> {
  return await context.readFile(file).catch((cause: unknown) => {
    throw new SlipwayError('NotFound', `the key ${file} cannot be read`, { nextStep: 'correct --key', cause })
  })
}

function said(path: string, { keyId, files, whole }: ReleaseLook): readonly string[] {
  const signed = `${path} is whole, and signed with key ${keyId}`
  if (!whole) return [signed, ...files.map(({ sha256 }) => `sha256   ${sha256}`)]
  const { version, revision, image, components } = whole
  return [
    signed,
    `version  ${version}`,
    `commit   ${revision}`,
    `image    ${image.reference}@${image.digest}`,
    `files    ${files.length}, made of ${components} packages of others (see the SBOM)`,
  ]
}
