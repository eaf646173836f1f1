// Who may ask. The server acts with a person's rights, and any page in any browser on this machine can reach it: so each request
// must show the token of the printed URL, be meant for this very address, and come from our own page.

import type { HttpRequest } from '../ports/http-server.ts'

export interface Refused {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly nextStep: string
}

const useUrl = 'open the URL that slipway printed, whole'

/** Undefined: go on. */
export function refusalOf(request: HttpRequest, token: string, port: number): Refused | undefined {
  return ofAnother(request, port) ?? (request.path.startsWith('/api/') ? withoutRight(request, token) : undefined)
}

/** A name that points here but is not ours (DNS rebinding), or a page of another site. */
function ofAnother({ headers, path }: HttpRequest, port: number): Refused | undefined {
  const own = ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port}`)
  const { host = '', origin, 'sec-fetch-site': site = 'none' } = headers
  if (!own.includes(host.toLowerCase())) {
    return { status: 421, code: 'WrongHost', message: 'this server has another address', nextStep: useUrl }
  }
  // A link on another page may lead to ours; asking behind a person's back is another matter.
  if (path.startsWith('/api/') && site !== 'same-origin' && site !== 'none') return fromElsewhere
  if (origin !== undefined && !own.some((address) => origin === `http://${address}`)) return fromElsewhere
  return undefined
}

const fromElsewhere: Refused = {
  status: 403,
  code: 'WrongOrigin',
  message: 'another site may not ask this server',
  nextStep: useUrl,
}

function withoutRight({ headers, query, method }: HttpRequest, token: string): Refused | undefined {
  const [scheme, bearer] = (headers.authorization ?? '').split(' ')
  // EventSource and downloads cannot send headers; what changes anything can.
  const shown = scheme === 'Bearer' && bearer !== undefined ? bearer : method === 'GET' ? query.get('token') : null
  if (shown === null || !isSameText(shown, token)) {
    return { status: 401, code: 'TokenWrong', message: 'the token is missing or another one', nextStep: useUrl }
  }
  const isJson = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() === 'application/json'
  if (method === 'POST' && !isJson) {
    return {
      status: 415,
      code: 'WrongContentType',
      message: 'the body must be application/json',
      nextStep: 'send content-type: application/json',
    }
  }
  return undefined
}

/** In a time that tells nothing of where they differ. */
function isSameText(shown: string, token: string): boolean {
  let difference = shown.length ^ token.length
  for (let at = 0; at < token.length; at++) difference |= (shown.charCodeAt(at) || 0) ^ token.charCodeAt(at)
  return difference === 0
}
