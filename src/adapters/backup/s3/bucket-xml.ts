// The few answers of S3 that are read. They are small and flat, made by programs.

export interface BucketError {
  readonly code: string
  readonly message: string
}

/** What an answer says of an error; an answer without one, or that is no XML, has none. */
export function errorOf(text: string): BucketError | undefined {
  const error = partsOf(text, 'Error')[0]
  if (error === undefined) return undefined
  return { code: textIn(error, 'Code') ?? '', message: (textIn(error, 'Message') ?? '').slice(0, 300) }
}

export interface ListedPage {
  readonly objects: readonly { readonly key: string; readonly bytes: number }[]
  /** Where the next page begins. */
  readonly next: string | undefined
}

export function listedPage(text: string): ListedPage {
  const objects = partsOf(text, 'Contents').map((part) => ({
    key: textIn(part, 'Key') ?? '',
    bytes: Number(textIn(part, 'Size') ?? Number.NaN),
  }))
  const isCut = textIn(text, 'IsTruncated') === 'true'
  return { objects, next: isCut ? textIn(text, 'NextContinuationToken') : undefined }
}

export function uploadOf(text: string): string | undefined {
  return textIn(text, 'UploadId')
}

/** The uploads of exactly this key that were never ended. */
export function unfinishedUploads(text: string, key: string): readonly string[] {
  return partsOf(text, 'Upload')
    .filter((part) => textIn(part, 'Key') === key)
    .flatMap((part) => textIn(part, 'UploadId') ?? [])
}

export interface SentPart {
  readonly tag: string
  /** Where the upload was begun with sums of this kind, each is named again at its end. */
  readonly sha256?: string
}

export function completionOf(sent: readonly SentPart[]): string {
  const parts = sent.map(({ tag, sha256 }, at) => {
    const sum = sha256 === undefined ? '' : `<ChecksumSHA256>${sha256}</ChecksumSHA256>`
    return `<Part><PartNumber>${at + 1}</PartNumber><ETag>${escaped(tag)}</ETag>${sum}</Part>`
  })
  return `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
}

function partsOf(text: string, name: string): readonly string[] {
  return [...text.matchAll(new RegExp(`<${name}(?: [^>]*)?>([\\s\\S]*?)</${name}>`, 'g'))].map(
    ([, inner = '']) => inner,
  )
}

function textIn(text: string, name: string): string | undefined {
  const inner = partsOf(text, name)[0]
  return inner === undefined ? undefined : unescaped(inner)
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }

function unescaped(text: string): string {
  return text.replace(/&(#x?[0-9a-fA-F]+|[a-z]+);/g, (whole, name: string) => {
    if (!name.startsWith('#')) return entities[name] ?? whole
    const code = name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
    return String.fromCodePoint(code)
  })
}

function escaped(text: string): string {
  return text.replace(/[<>&"]/g, (letter) => `&#${letter.charCodeAt(0)};`)
}
