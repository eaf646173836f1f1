// Questions to the console's server. The token came with the printed URL and stays in this tab.

import type { ConsoleError } from '../api/console.ts'

const tokenKey = 'slipway-token'

/** Taken out of the address bar at once, so that it is not copied along with a link. */
export function token(): string {
  const given = new URL(location.href).searchParams.get('token')
  if (given !== null) {
    sessionStorage.setItem(tokenKey, given)
    const clean = new URL(location.href)
    clean.searchParams.delete('token')
    history.replaceState(null, '', clean)
  }
  return sessionStorage.getItem(tokenKey) ?? ''
}

/** EventSource and downloads cannot send headers. */
export function address(path: string): string {
  return `/api/${path}${path.includes('?') ? '&' : '?'}token=${encodeURIComponent(token())}`
}

export class RequestFailed extends Error {
  readonly code: string
  readonly nextStep: string

  constructor({ code, message, nextStep }: ConsoleError) {
    super(message)
    this.name = 'RequestFailed'
    this.code = code
    this.nextStep = nextStep
  }
}

export function ask<T>(path: string): Promise<T> {
  return answered(fetch(`/api/${path}`, { headers: headers() }))
}

/** An aborted one fails as any other would: whoever aborted it knows. */
export function send<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const request = { method: 'POST', body: JSON.stringify(body), ...(signal && { signal }) }
  return answered(fetch(`/api/${path}`, { ...request, headers: { ...headers(), 'content-type': 'application/json' } }))
}

function headers(): Record<string, string> {
  return { authorization: `Bearer ${token()}` }
}

async function answered<T>(pending: Promise<Response>): Promise<T> {
  const response = await pending.catch(() => {
    throw new RequestFailed({
      code: 'Unreachable',
      message: 'the console’s server does not answer',
      nextStep: 'is slipway console still running in its terminal?',
    })
  })
  const body: unknown = await response.json().catch(() => undefined)
  if (response.ok) return body as T
  throw new RequestFailed(
    (body as ConsoleError | undefined) ?? {
      code: 'ServerError',
      message: `the console’s server answered ${response.status}`,
      nextStep: 'look at its terminal',
    },
  )
}
