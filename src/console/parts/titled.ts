/** At the beginning of a line: `wave 1` is `Wave 1`. Names, as `pool=gpu`, stay as they are. */
export function titled(words: string): string {
  return /^[a-z]+( |$)/.test(words) ? words.charAt(0).toUpperCase() + words.slice(1) : words
}
