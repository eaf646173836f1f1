import type { KeyReference } from '../../api/key-reference.ts'
import { configMaps, secrets } from '../../api/kube.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { KubeApi } from '../../ports/kube-api.ts'

/** One value of a Secret in the operator's namespace. */
export async function readSecretKey(
  api: KubeApi,
  namespace: string,
  { name, key }: KeyReference,
  signal: AbortSignal,
): Promise<string> {
  const encoded = (await api.get(secrets, { namespace, name }, signal)).data?.[key]
  if (encoded === undefined) throw new SlipwayError('NotFound', `Secret ${namespace}/${name} has no key ${key}`)
  return new TextDecoder().decode(Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0))).trim()
}

/** One value of a ConfigMap in the operator's namespace. */
export async function readConfigKey(
  api: KubeApi,
  namespace: string,
  { name, key }: KeyReference,
  signal: AbortSignal,
): Promise<string> {
  const text = (await api.get(configMaps, { namespace, name }, signal)).data?.[key]
  if (text === undefined) throw new SlipwayError('NotFound', `ConfigMap ${namespace}/${name} has no key ${key}`)
  return text
}
