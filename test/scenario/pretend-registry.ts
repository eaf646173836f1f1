// A registry as a story has it: which tags name what is told by the story, and what it was asked is kept.

import { createHash } from 'node:crypto'
import type { Referrer } from '../../src/api/image-signature.ts'
import { SlipwayError } from '../../src/api/slipway-error.ts'
import { parseImageReference } from '../../src/core/image/reference.ts'
import type { FoundImage, Registry, RegistryAccess } from '../../src/ports/registry.ts'

interface Asked {
  readonly reference: string
  readonly access: RegistryAccess
}

export class PretendRegistry implements Registry {
  readonly asked: Asked[] = []
  /** Why it does not answer. */
  failure: SlipwayError | undefined
  /** Whom it answers; absent = everybody. */
  password: string | undefined
  /** What becomes of it when somebody has looked, for the so-manieth time. */
  afterLook: ((looks: number) => void) | undefined
  readonly #images = new Map<string, FoundImage>()
  readonly #referrers = new Map<string, readonly Referrer[]>()

  /** Lets a tag name an image, made from a word; the same word is the same image. */
  push(reference: string, word: string, architectures: readonly string[] = ['amd64']): string {
    const digest = digestOf(word)
    const platforms = architectures.map((architecture) => ({
      os: 'linux',
      architecture,
      digest: architectures.length > 1 ? digestOf(`${word} ${architecture}`) : digest,
    }))
    this.#images.set(reference, { digest, platforms })
    this.#images.set(`${parseImageReference(reference)?.name}@${digest}`, { digest, platforms })
    return digest
  }

  async tags(repository: string, access: RegistryAccess): Promise<readonly string[]> {
    this.#note(repository, access)
    const names = [...this.#images.keys()].filter((name) => name.startsWith(`${repository}:`))
    return names.map((name) => name.slice(repository.length + 1))
  }

  async look(reference: string, access: RegistryAccess): Promise<FoundImage> {
    this.#note(reference, access)
    const found = this.#images.get(reference)
    this.afterLook?.(this.asked.length)
    if (!found)
      throw new SlipwayError('RegistryRefused', `${reference} answers 404: it has no such name, tag or digest`)
    return found
  }

  async referrers(
    repository: string,
    digests: readonly string[],
    access: RegistryAccess,
  ): Promise<readonly Referrer[]> {
    this.#note(repository, access)
    return digests.flatMap((digest) => this.#referrers.get(digest) ?? [])
  }

  /** Lets something refer to an image. */
  refer(digest: string, ...referrers: readonly Referrer[]): void {
    this.#referrers.set(digest, referrers)
  }

  #note(reference: string, access: RegistryAccess): void {
    this.asked.push({ reference, access })
    if (this.failure) throw this.failure
    if (this.password === undefined || access.password === this.password) return
    throw new SlipwayError('RegistryRefused', `${reference} answers 401: it does not take the credentials`)
  }
}

function digestOf(word: string): string {
  return `sha256:${createHash('sha256').update(word).digest('hex')}`
}
