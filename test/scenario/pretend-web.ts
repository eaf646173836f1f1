// Servers as a story has them: what each answers is told by the story, and what they were asked is kept.

import { SlipwayError } from '../../src/api/slipway-error.ts'
import type { Web, WebAnswer, WebRequest } from '../../src/ports/web.ts'

type Reply = WebAnswer | 'unreachable' | ((request: WebRequest) => Promise<WebAnswer>)

export class PretendWeb implements Web {
  readonly requests: WebRequest[] = []
  readonly #replies = new Map<string, Reply>()

  answers(host: string, reply: Reply): void {
    this.#replies.set(host, reply)
  }

  async request(request: WebRequest): Promise<WebAnswer> {
    this.requests.push(request)
    const { host } = new URL(request.url)
    const reply = this.#replies.get(host) ?? 'unreachable'
    if (reply === 'unreachable') throw new SlipwayError('CannotReach', `${host} cannot be asked: connection refused`)
    return typeof reply === 'function' ? reply(request) : reply
  }

  asked(host: string): readonly WebRequest[] {
    return this.requests.filter(({ url }) => new URL(url).host === host)
  }
}

export const ok: WebAnswer = { status: 200, body: 'ok' }
export const broken: WebAnswer = { status: 503, body: 'not now' }

export const prometheusSays = (value: string): WebAnswer => ({
  status: 200,
  body: JSON.stringify({
    status: 'success',
    data: { resultType: 'vector', result: [{ metric: { job: 'shop' }, value: [1767225600, value] }] },
  }),
})
