// etcd's JSON gateway, spoken with the certificates of this host: no program of etcd needs to be there.

import {
  type GatewayAlarm,
  type GatewayMember,
  type GatewayStatus,
  gatewayAlarmsSchema,
  gatewayDoneSchema,
  gatewayFailureSchema,
  gatewayMembersSchema,
  gatewayRangeSchema,
  gatewayStatusSchema,
  gatewayTransactionSchema,
} from '../../api/etcd-gateway.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { RequestCredentials, SecureRequests } from '../../ports/secure-requests.ts'
import type { Schema } from '../journal/sealed-file.ts'

/** A member that does not answer a small question so long is no help to the others. */
const timeoutMs = 4_000
/** The key etcdctl asks for as well; it need not be there. */
const readKey = btoa('health')

export interface GatewayValue {
  readonly value: string
  readonly revision: string
}

export class EtcdGateway {
  readonly #requests: SecureRequests
  readonly #credentials: RequestCredentials

  constructor(requests: SecureRequests, credentials: RequestCredentials) {
    this.#requests = requests
    this.#credentials = credentials
  }

  async members(endpoint: string, signal: AbortSignal): Promise<readonly GatewayMember[]> {
    return (await this.#ask(endpoint, '/v3/cluster/member/list', {}, gatewayMembersSchema, signal)).members
  }

  /** As this very member knows them, also where it has no majority behind it. */
  async membersKnown(endpoint: string, signal: AbortSignal): Promise<readonly GatewayMember[]> {
    const body = { linearizable: false }
    return (await this.#ask(endpoint, '/v3/cluster/member/list', body, gatewayMembersSchema, signal)).members
  }

  status(endpoint: string, signal: AbortSignal): Promise<GatewayStatus> {
    return this.#ask(endpoint, '/v3/maintenance/status', {}, gatewayStatusSchema, signal)
  }

  /** One for each member that has it. */
  async alarms(endpoint: string, signal: AbortSignal): Promise<readonly GatewayAlarm[]> {
    const path = '/v3/maintenance/alarm'
    return (await this.#ask(endpoint, path, { action: 'GET' }, gatewayAlarmsSchema, signal)).alarms
  }

  /** Reads what a majority has agreed on; throws where this member has no majority behind it. */
  async readAgreed(endpoint: string, signal: AbortSignal): Promise<void> {
    await this.#ask(endpoint, '/v3/kv/range', { key: readKey }, gatewayDoneSchema, signal)
  }

  /** A key's value and the revision it was last written at; undefined where there is none. */
  async read(endpoint: string, key: string, signal: AbortSignal): Promise<GatewayValue | undefined> {
    const { kvs } = await this.#ask(endpoint, '/v3/kv/range', { key: base64(key) }, gatewayRangeSchema, signal)
    return kvs[0] && { value: textOf(kvs[0].value), revision: kvs[0].mod_revision }
  }

  /** Over what stood there at that revision; false where somebody wrote meanwhile. */
  async replace(endpoint: string, key: string, next: GatewayValue, signal: AbortSignal): Promise<boolean> {
    const body = {
      compare: [{ key: base64(key), target: 'MOD', result: 'EQUAL', mod_revision: next.revision }],
      success: [{ requestPut: { key: base64(key), value: base64(next.value) } }],
    }
    return (await this.#ask(endpoint, '/v3/kv/txn', body, gatewayTransactionSchema, signal)).succeeded
  }

  /** Only the leader itself can be asked. */
  async moveLeader(endpoint: string, targetID: string, signal: AbortSignal): Promise<void> {
    await this.#ask(endpoint, '/v3/maintenance/transfer-leadership', { targetID }, gatewayDoneSchema, signal)
  }

  async #ask<T>(endpoint: string, path: string, body: object, schema: Schema<T>, signal: AbortSignal): Promise<T> {
    const url = `${endpoint.replace(/\/+$/, '')}${path}`
    const request = {
      method: 'POST',
      url,
      body: JSON.stringify(body),
      credentials: this.#credentials,
      timeoutMs,
    } as const
    const answer = await this.#requests.send(request, signal)
    const json = jsonOf(answer.body)
    if (answer.status !== 200) {
      const failure = gatewayFailureSchema.safeParse(json)
      const what = failure.success ? failure.data.message : answer.body.slice(0, 200)
      throw new SlipwayError('CannotReach', `${url} answers ${answer.status}: ${what}`)
    }
    const parsed = schema.safeParse(json)
    if (parsed.success) return parsed.data
    throw new SlipwayError('CannotReach', `${url} answers something unexpected: ${answer.body.slice(0, 200)}`)
  }
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64')
}

function textOf(base: string): string {
  return Buffer.from(base, 'base64').toString('utf8')
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
