import { KubeError } from '../../api/kube-error.ts'

const pages: Readonly<Record<string, readonly string[]>> = {
  '/readyz?verbose': ['[+]ping ok', 'readyz check passed'],
  '/metrics': ['# TYPE apiserver_requested_deprecated_apis gauge'],
}

/** What this server says in plain text: it is ready, and nobody has asked for a deprecated API. */
export function textPage(path: string): readonly string[] {
  const lines = pages[path]
  if (lines === undefined) throw new KubeError('NotFound', `${path} not found`, { status: 404 })
  return lines
}
