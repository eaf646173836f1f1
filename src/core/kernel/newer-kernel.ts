// Whether a kernel is installed that the next boot would take in place of the one that runs. A wrong yes reboots a machine for
// nothing, so only kernels of one line are compared: the same distribution, architecture and flavour.

export type KernelComparison =
  | { readonly kind: 'Newest' }
  | { readonly kind: 'Newer'; readonly release: string }
  | { readonly kind: 'Unknown'; readonly because: string }

interface Release {
  readonly text: string
  /** What tells lines of kernels apart: `cloud-amd64`, `el.x86_64+debug`. */
  readonly flavour: string
  readonly version: readonly number[]
  readonly build: readonly number[]
}

/** `6.1.0-25-cloud-amd64`, `6.12.41+deb13-amd64`, `5.15.0-119-generic`, `5.14.21-150500.55.73-default`. */
const dashed = /^(\d+(?:\.\d+)*)(?:\+[a-z]+\d*)?(?:-(\d[\w.]*))?-([a-z][\w+.-]*)$/
/** `5.14.0-427.13.1.el9_4.x86_64+debug`, `6.1.102-111.182.amzn2023.x86_64`. */
const dotted = /^(\d+(?:\.\d+)*)-(\d+(?:\.\d+)*)\.([a-z][\w+.-]*)$/
/** They offer several series side by side, and the boot loader need not take the newest. */
const inSeries = /amzn|elrepo|uek/

/** `installed`: those with modules and an image to boot. */
export function compareKernels(running: string, installed: readonly string[]): KernelComparison {
  const here = parseRelease(running)
  if (!here) return unknown(`the kernel ${running} has a name of a shape that is not known`)
  if (!installed.includes(running)) return unknown(`the running kernel ${running} is not among those installed`)
  const newer = installed
    .flatMap((text) => parseRelease(text) ?? [])
    .filter((one) => one.flavour === here.flavour && compareReleases(one, here) > 0)
    .sort(compareReleases)
  const sameSeries = newer.filter((one) => !inSeries.test(here.flavour) || seriesOf(one) === seriesOf(here))
  const newest = sameSeries.at(-1)
  if (newest) return { kind: 'Newer', release: newest.text }
  const [other] = newer
  return other ? unknown(`${other.text} is of another series than ${running}`) : { kind: 'Newest' }
}

function parseRelease(text: string): Release | undefined {
  const [, version, build = '', flavour] = dashed.exec(text) ?? []
  if (version !== undefined && flavour !== undefined) {
    return { text, flavour, version: numbersIn(version), build: numbersIn(build) }
  }
  const [, base, release, rest] = dotted.exec(text) ?? []
  if (base === undefined || release === undefined || rest === undefined) return undefined
  return { text, flavour: withoutDistVersion(rest), version: numbersIn(base), build: numbersIn(release) }
}

/** `el9_4.x86_64` and `el9_2.x86_64` are one line, as are those of two Fedoras. The architecture keeps its number. */
function withoutDistVersion(rest: string): string {
  const at = rest.lastIndexOf('.')
  if (at < 0) return rest.replace(/[\d_]+/g, '')
  return rest.slice(0, at).replace(/[\d_]+/g, '') + rest.slice(at)
}

function compareReleases(a: Release, b: Release): number {
  return compareNumbers(a.version, b.version) || compareNumbers(a.build, b.build)
}

function compareNumbers(a: readonly number[], b: readonly number[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

function numbersIn(text: string): readonly number[] {
  return (text.match(/\d+/g) ?? []).map(Number)
}

function seriesOf({ version }: Release): string {
  return version.slice(0, 2).join('.')
}

function unknown(because: string): KernelComparison {
  return { kind: 'Unknown', because }
}
