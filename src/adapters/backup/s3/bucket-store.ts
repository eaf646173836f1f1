// Backups in a bucket of S3 or of what speaks like it. A small one is one request; a large one goes up in parts, and is there only when
// all of them are and the last word was said.

import { SlipwayError } from '../../../api/slipway-error.ts'
import type { OpenStore, StoredObject } from '../../../ports/backup-store.ts'
import { algorithmHeader, sumOfBody } from './body-sum.ts'
import type { BucketClient } from './bucket-client.ts'
import { errorOfAnswer } from './bucket-errors.ts'
import { completionOf, errorOf, listedPage, type SentPart, unfinishedUploads, uploadOf } from './bucket-xml.ts'
import { filledParts, type Part } from './part-filler.ts'

/** The least S3 takes, for two of them are held in memory. With the most parts there may be, 10,000, room for six times the largest etcd. */
const defaultPartBytes = 5 * 1024 * 1024
/** For clearing up after one who was told to stop. */
const clearMs = 20_000

export interface BucketPlace {
  /** s3 or gs, for people. */
  readonly scheme: string
  readonly bucket: string
  readonly prefix?: string | undefined
  readonly partBytes?: number
  /** How many names an answer to a list may have; absent = as many as the store gives. */
  readonly pageNames?: number
}

export class BucketStore implements OpenStore {
  readonly #client: BucketClient
  readonly #place: BucketPlace
  readonly #folder: string

  constructor(client: BucketClient, place: BucketPlace) {
    this.#client = client
    this.#place = place
    const folder = (place.prefix ?? '').split('/').filter((part) => part !== '')
    this.#folder = folder.map((part) => `${part}/`).join('')
  }

  location(name: string): string {
    return `${this.#place.scheme}://${this.#place.bucket}/${this.#folder}${name}`
  }

  async put(name: string, content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
    const key = this.#key(name)
    const parts = filledParts(content, this.#place.partBytes ?? defaultPartBytes)
    const { value: first } = await parts.next()
    if (!first) throw new Error('there is always a part')
    if (first.isLast) {
      await this.#client.send({ method: 'PUT', key, body: first.content, what: 'storing' }, signal)
      return
    }
    await this.#clearUploads(key, signal)
    const upload = await this.#beginUpload(key, signal)
    try {
      const { sent, bytes } = await this.#sendParts(key, upload, first, parts, signal)
      await this.#complete(key, upload, sent, bytes, signal)
    } catch (error) {
      // The first failure is the one to tell; where this fails too, the next upload of the name clears both.
      await this.#abort(key, upload, AbortSignal.timeout(clearMs)).catch(() => undefined)
      throw error
    } finally {
      await parts.return(undefined)
    }
  }

  get(name: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | undefined> {
    return this.#client.open({ method: 'GET', key: this.#key(name), what: 'reading' }, signal)
  }

  async list(signal: AbortSignal): Promise<readonly StoredObject[]> {
    const found: StoredObject[] = []
    for (let next: string | undefined = ''; next !== undefined; ) {
      const query: Record<string, string> = {
        'list-type': '2',
        delimiter: '/',
        prefix: this.#folder,
        ...(this.#place.pageNames !== undefined && { 'max-keys': String(this.#place.pageNames) }),
        ...(next !== '' && { 'continuation-token': next }),
      }
      const page = listedPage(
        (await this.#client.send({ method: 'GET', key: '', query, what: 'listing' }, signal)).body,
      )
      for (const { key, bytes } of page.objects) {
        const name = key.slice(this.#folder.length)
        if (name !== '' && key.startsWith(this.#folder)) found.push({ name, bytes })
      }
      next = page.next
    }
    return found
  }

  async remove(name: string, signal: AbortSignal): Promise<void> {
    const answer = await this.#client.send(
      { method: 'DELETE', key: this.#key(name), what: 'removing', accepted: [404] },
      signal,
    )
    if (errorOf(answer.body)?.code === 'NoSuchBucket') throw errorOfAnswer(this.location(name), 'removing', answer)
  }

  close(): Promise<void> {
    this.#client.close()
    return Promise.resolve()
  }

  #key(name: string): string {
    return `${this.#folder}${name}`
  }

  /** Parts that one who died left behind cost money and are seen by nobody. Who may not list them can still store. */
  async #clearUploads(key: string, signal: AbortSignal): Promise<void> {
    const query = { uploads: '', prefix: key }
    const { status, body } = await this.#client.send(
      { method: 'GET', key: '', query, what: 'listing the uploads of', accepted: [400, 403, 404, 405, 501] },
      signal,
    )
    if (errorOf(body)?.code === 'NoSuchBucket') throw errorOfAnswer(this.#place.bucket, 'storing in', { status, body })
    if (status === 200) for (const upload of unfinishedUploads(body, key)) await this.#abort(key, upload, signal)
  }

  async #beginUpload(key: string, signal: AbortSignal): Promise<string> {
    const query = { uploads: '' }
    const headers = this.#client.sum === 'sha256' ? algorithmHeader : {}
    const { body } = await this.#client.send({ method: 'POST', key, query, headers, what: 'storing' }, signal)
    const upload = uploadOf(body)
    if (upload !== undefined) return upload
    throw new SlipwayError('StoreRefused', `storing ${key}: the store does not take uploads in parts`, {
      nextStep: 'look whether the endpoint is one of S3',
    })
  }

  /** One part is on its way while the next is filled. */
  async #sendParts(
    key: string,
    upload: string,
    first: Part,
    rest: AsyncIterator<Part>,
    signal: AbortSignal,
  ): Promise<{ readonly sent: readonly SentPart[]; readonly bytes: number }> {
    const sent: SentPart[] = []
    let bytes = 0
    let sending: Promise<SentPart> | undefined
    try {
      for (let part: Part | undefined = first; part; part = (await rest.next()).value) {
        if (sending !== undefined) sent.push(await sending)
        bytes += part.content.length
        sending = this.#sendPart(key, upload, sent.length + 1, part.content, signal)
        // Looked at when the next part is ready; until then a failure must not count as unheard.
        sending.catch(() => undefined)
        if (part.isLast) break
      }
      if (sending !== undefined) sent.push(await sending)
      return { sent, bytes }
    } catch (error) {
      // The buffer it reads from must not go before it has ended.
      await sending?.catch(() => undefined)
      throw error
    }
  }

  async #sendPart(
    key: string,
    uploadId: string,
    number: number,
    body: Uint8Array,
    signal: AbortSignal,
  ): Promise<SentPart> {
    const query = { partNumber: String(number), uploadId }
    const { headers } = await this.#client.send({ method: 'PUT', key, query, body, what: 'storing a part of' }, signal)
    if (headers.etag !== undefined) {
      return { tag: headers.etag, ...(this.#client.sum === 'sha256' && { sha256: sumOfBody('sha256', body) }) }
    }
    throw new SlipwayError('StoreRefused', `storing ${key}: the store gives no tag for part ${number}`, {
      nextStep: 'look whether the endpoint is one of S3',
    })
  }

  async #complete(
    key: string,
    uploadId: string,
    sent: readonly SentPart[],
    bytes: number,
    signal: AbortSignal,
  ): Promise<void> {
    const body = Buffer.from(completionOf(sent))
    const answer = await this.#client.send(
      { method: 'POST', key, query: { uploadId }, body, what: 'ending the upload of', accepted: [404] },
      signal,
    )
    const error = errorOf(answer.body)
    // A store may answer 200 at once and tell of a failure at the end.
    if (!error && answer.status === 200) return
    // The word was heard the first time, only its answer was lost.
    if (error?.code === 'NoSuchUpload' && answer.attempt > 1 && (await this.#bytesOf(key, signal)) === bytes) return
    throw errorOfAnswer(key, 'ending the upload of', { status: error ? 500 : answer.status, body: answer.body })
  }

  async #bytesOf(key: string, signal: AbortSignal): Promise<number | undefined> {
    const { status, headers } = await this.#client.send(
      { method: 'HEAD', key, what: 'looking at', accepted: [404] },
      signal,
    )
    return status === 200 ? Number(headers['content-length']) : undefined
  }

  async #abort(key: string, uploadId: string, signal: AbortSignal): Promise<void> {
    await this.#client.send(
      { method: 'DELETE', key, query: { uploadId }, what: 'giving up the upload of', accepted: [404] },
      signal,
    )
  }
}
