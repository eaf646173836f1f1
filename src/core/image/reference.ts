// One image has many spellings: rpm-ostree puts a transport and a way of trust before it, people leave the registry out.

export interface ImageReference {
  /** `registry.example:5000/os/base` */
  readonly name: string
  readonly tag?: string
  readonly digest?: string
}

const transports = ['docker://', 'registry:']
const trusts = ['ostree-unverified-registry:', 'ostree-unverified-image:', 'ostree-image-signed:']
const remoteTrusts = ['ostree-remote-registry:', 'ostree-remote-image:']
const defaultRegistry = 'docker.io'

/** Undefined for what names no image in a registry. */
export function parseImageReference(text: string): ImageReference | undefined {
  const [, path = '', tag, digest] =
    /^([^@\s]+?)(?::([A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$/.exec(bareName(text)) ?? []
  const name = qualified(path)
  if (!/^[a-zA-Z0-9.-]+(:[0-9]+)?(\/[a-z0-9]+((\.|_{1,2}|-+)[a-z0-9]+)*)+$/.test(name)) return undefined
  return { name, ...(tag !== undefined && { tag }), ...(digest !== undefined && { digest }) }
}

/** Where a tag stands beside a digest the digest decides, so the tag is left out; without either it is `latest`. */
export function formatImageReference({ name, tag, digest }: ImageReference): string {
  return digest === undefined ? `${name}:${tag ?? 'latest'}` : `${name}@${digest}`
}

/** The same text for every spelling of one image; what is no image's name is kept. */
export function normalImageName(text: string): string {
  const reference = parseImageReference(text)
  return reference ? formatImageReference(reference) : text
}

function bareName(text: string): string {
  const trust = trusts.find((prefix) => text.startsWith(prefix))
  if (trust !== undefined) return withoutTransport(text.slice(trust.length))
  const remoteTrust = remoteTrusts.find((prefix) => text.startsWith(prefix))
  if (remoteTrust === undefined) return withoutTransport(text)
  const rest = text.slice(remoteTrust.length)
  return withoutTransport(rest.slice(rest.indexOf(':') + 1))
}

function withoutTransport(text: string): string {
  const transport = transports.find((prefix) => text.startsWith(prefix))
  return transport === undefined ? text : text.slice(transport.length)
}

/** A first part with a dot, a port or the name localhost is a registry; anything else lies in the default one. */
function qualified(path: string): string {
  const [first = '', ...rest] = path.split('/')
  if (rest.length > 0 && (/[.:]/.test(first) || first === 'localhost')) return path
  return rest.length > 0 ? `${defaultRegistry}/${path}` : `${defaultRegistry}/library/${path}`
}
