/** A part of an address as it was meant: the router leaves what stands for a slash as it is. */
export function parameter(text: string | undefined): string | undefined {
  if (text === undefined || !text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
