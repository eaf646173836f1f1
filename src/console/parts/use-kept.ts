import { useState } from 'react'

/**
 * What a page without a name in its address shows: the first of many, for as long as it is there. Another that comes to the top must
 * not take its place under the pointer.
 */
export function useKept(first: string | undefined, isThere: (key: string) => boolean): string | undefined {
  const [kept, keep] = useState(first)
  const shown = kept !== undefined && isThere(kept) ? kept : first
  if (shown !== kept) keep(shown)
  return shown
}
