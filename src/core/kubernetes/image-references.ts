/** Which of the wanted images the runtime does not have; Docker Hub's short names are written out as runtimes list them. */
export function missingImages(wanted: readonly string[], present: readonly string[]): readonly string[] {
  const there = new Set(present.map(wholeReference))
  return wanted.filter((image) => !there.has(wholeReference(image)))
}

function wholeReference(image: string): string {
  const [first = '', ...rest] = image.split('/')
  if (rest.length === 0) return `docker.io/library/${image}`
  return /[.:]|^localhost$/.test(first) ? image : `docker.io/${image}`
}
