import type { SealedText } from '../../api/sealed-text.ts'

/** What a sealed text is for: the same words where it is sealed and where it is opened. */
export function sealingContext({ secret, key, version }: Pick<SealedText, 'secret' | 'key' | 'version'>): string {
  return `Secret ${secret} key ${key} (${version})`
}
