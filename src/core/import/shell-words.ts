/** Splits a command line as a shell would, quotes and backslashes included; undefined where a quote is never closed. */
export function shellWords(text: string): readonly string[] | undefined {
  const words: string[] = []
  let word: string | undefined
  let quote: '"' | "'" | undefined
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index)
    if (character === '\\' && quote !== "'" && index + 1 < text.length) {
      index += 1
      const next = text.charAt(index)
      // Between double quotes a backslash is itself, except before what would end or expand them.
      word = (word ?? '') + (quote === '"' && !['"', '\\', '$', '`'].includes(next) ? character + next : next)
    } else if (quote !== undefined) {
      if (character === quote) quote = undefined
      else word = (word ?? '') + character
    } else if (character === '"' || character === "'") {
      quote = character
      word ??= ''
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + character
  }
  if (quote !== undefined) return undefined
  return word === undefined ? words : [...words, word]
}
