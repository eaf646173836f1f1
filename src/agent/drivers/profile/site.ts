import type { DesiredFile, DesiredState } from '../../../api/desired-state.ts'
import type { SealedText } from '../../../api/sealed-text.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import type { Host } from '../../../ports/host.ts'
import type { WantedFile } from '../files/managed-file.ts'
import type { RecordShelf } from './record.ts'

/** Opens what was sealed to this host; throws SecretUnreadable. */
export type OpenSealed = (sealed: SealedText) => Promise<string>

/** Where profiles are applied. */
export interface Site {
  readonly host: Host
  readonly record: RecordShelf
  readonly open: OpenSealed
}

export interface PlacedFile extends WantedFile {
  readonly restarts: readonly string[]
  readonly whenRemoved: 'Restore' | 'Keep'
}

export async function placedFiles(site: Site, target: DesiredState): Promise<readonly PlacedFile[]> {
  const placed: PlacedFile[] = []
  for (const file of target.files) placed.push(await placedFile(site, file))
  return placed
}

export async function placedFile({ open }: Site, file: DesiredFile): Promise<PlacedFile> {
  const { path, mode, owner, group, restarts, whenRemoved, content, sealed } = file
  const text = content ?? (sealed && (await open(sealed)))
  if (text === undefined) throw new SlipwayError('Internal', `${path} has no content`)
  return { path, content: text, mode: Number.parseInt(mode, 8), owner, group, restarts, whenRemoved }
}
