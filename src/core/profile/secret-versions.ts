// What the values of a Secret are called where only their names may be seen. The resourceVersion changes with every write, also
// of another key or an annotation: a value that was there before keeps its name.

import type { Secret } from '../../api/kube.ts'
import type { NodeProfileStatus, SecretVersion } from '../../api/node-profile.ts'

export interface NamedSecret {
  readonly secret: Secret
  /** Of each key's value. */
  readonly versions: ReadonlyMap<string, string>
}

/** `told`: what earlier leaders said of values that they had seen before. */
export function namedSecret(
  secret: Secret,
  before: NamedSecret | undefined,
  told: readonly SecretVersion[],
): NamedSecret {
  const readAs = writtenAs(secret)
  const versions = Object.entries(secret.data ?? {}).map(([key, value]): [string, string] => {
    const isSame = before?.secret.data?.[key] === value
    const known = isSame
      ? before.versions.get(key)
      : told.find((one) => one.secret === secret.metadata.name && one.key === key && one.writtenAs === readAs)?.version
    return [key, known ?? readAs]
  })
  return { secret, versions: new Map(versions) }
}

/** What the next leader cannot see for itself: a value that came before this write of its Secret. */
export function toldOf(
  { secret, versions }: NamedSecret,
  key: string,
): NonNullable<NodeProfileStatus['secretVersions']> {
  const [version, readAs] = [versions.get(key), writtenAs(secret)]
  if (version === undefined || version === readAs) return []
  return [{ secret: secret.metadata.name, key, version, writtenAs: readAs }]
}

function writtenAs({ metadata }: Secret): string {
  return `${metadata.uid}/${metadata.resourceVersion}`
}
