/** Compares names as people count: w2 before w10. Made once for a sorting: a comparison by locale without it costs a hundred times more. */
export function naturalOrder(): (a: string, b: string) => number {
  return new Intl.Collator('en', { numeric: true }).compare
}
