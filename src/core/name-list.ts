const shownAtMost = 5

/** `w1, w2, w3, w4, w5 and 2 more`; `total` where the list was cut already. */
export function nameList(names: readonly string[], total: number = names.length): string {
  const shown = names.slice(0, shownAtMost)
  return total > shown.length ? `${shown.join(', ')} and ${total - shown.length} more` : shown.join(', ')
}
