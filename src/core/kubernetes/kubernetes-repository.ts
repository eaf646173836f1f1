// Kubernetes has a package repository for each minor version. Its entry is found by the address alone, in whatever form the
// host keeps it; all else about the entry, its key most of all, stays as it is.

export interface Minor {
  readonly major: number
  readonly minor: number
}

const minorInPath = /\/v[0-9]+\.[0-9]+(?=\/|$)/
/** pkgs.k8s.io and its mirrors; the repositories of cri-o have the same shape and follow their own versions. */
const isKubernetes = (address: string) => /k8s|kube|core:?\/stable/i.test(address) && !/cri-?o/i.test(address)

/** A file of repositories with its Kubernetes entries at another minor version; undefined where it has none. */
export function switchedToMinor(path: string, content: string, minor: Minor): string | undefined {
  const isAddress = path.endsWith('.sources') ? inDeb822() : path.endsWith('.repo') ? inRepo() : inList()
  let found = false
  const lines = content.split('\n').map((line) => {
    if (!isAddress(line)) return line
    return line.replace(/[a-z+-]+:\/*[^\s\]]+/g, (address) => {
      const switched = addressAtMinor(address, minor)
      if (switched !== undefined) found = true
      return switched ?? address
    })
  })
  return found ? lines.join('\n') : undefined
}

/** The address of such a repository at another minor version; undefined for any other address. */
export function addressAtMinor(address: string, { major, minor }: Minor): string | undefined {
  if (!minorInPath.test(address) || !isKubernetes(address)) return undefined
  return address.replace(minorInPath, `/v${major}.${minor}`)
}

/** Whether a package manager takes the file at this path for a list of repositories. */
export function isRepositoryFile(path: string): boolean {
  return /^\/etc\/(apt\/sources\.list|apt\/sources\.list\.d\/[\w:.-]+\.(list|sources)|yum\.repos\.d\/[^/]+\.repo)$/.test(
    path,
  )
}

type IsAddressLine = (line: string) => boolean

function inList(): IsAddressLine {
  return (line) => /^\s*deb(-src)?\s/.test(line)
}

/** The field `URIs`, which may go on over indented lines. */
function inDeb822(): IsAddressLine {
  let within = false
  return (line) => {
    if (!/^[ \t#]/.test(line)) within = /^URIs:/i.test(line)
    return within && !line.startsWith('#')
  }
}

/** `baseurl`, which may go on over indented lines; the key's address is left: one key signs them all. */
function inRepo(): IsAddressLine {
  let within = false
  return (line) => {
    if (!/^[ \t#;]/.test(line)) within = /^baseurl\s*=/i.test(line)
    return within && !/^[#;]/.test(line)
  }
}
