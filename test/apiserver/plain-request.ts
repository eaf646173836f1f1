// A plain HTTPS request with a kubeconfig's certificates: for what must reach the server untouched by our own client,
// such as objects that no type of ours would allow.

import { readFile } from 'node:fs/promises'
import { request } from 'node:https'
import { dirname, resolve } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'

const kubeconfigSchema = z.object({
  clusters: z
    .array(
      z.object({
        cluster: z.object({
          server: z.string(),
          'certificate-authority': z.string().optional(),
          'certificate-authority-data': z.string().optional(),
        }),
      }),
    )
    .min(1),
  users: z
    .array(
      z.object({
        user: z.object({
          'client-certificate': z.string().optional(),
          'client-certificate-data': z.string().optional(),
          'client-key': z.string().optional(),
          'client-key-data': z.string().optional(),
          token: z.string().optional(),
        }),
      }),
    )
    .min(1),
})

export interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>> & { readonly message?: string }
}

export interface PlainRequestOptions {
  readonly body?: object
  readonly contentType?: string
  readonly accept?: string
  readonly headers?: Readonly<Record<string, string>>
}

export type PlainRequest = (method: string, path: string, options?: PlainRequestOptions) => Promise<Answer>

export async function plainRequests(kubeconfigPath: string): Promise<PlainRequest> {
  const { clusters, users } = kubeconfigSchema.parse(parse(await readFile(kubeconfigPath, 'utf8')))
  const cluster = clusters[0]?.cluster
  const user = users[0]?.user
  const folder = dirname(kubeconfigPath)
  const ca = await pem(folder, cluster?.['certificate-authority-data'], cluster?.['certificate-authority'])
  const pair = async () => ({
    cert: await pem(folder, user?.['client-certificate-data'], user?.['client-certificate']),
    key: await pem(folder, user?.['client-key-data'], user?.['client-key']),
  })
  const bearer = user?.token === undefined ? {} : { authorization: `Bearer ${user.token}` }
  const tls = { ca, ...(user?.token === undefined ? await pair() : {}) }
  return (method, path, { body, contentType = 'application/json', accept = 'application/json', headers: more } = {}) =>
    new Promise((fulfil, reject) => {
      const headers = { 'content-type': contentType, accept, ...bearer, ...more }
      const sent = request(new URL(path, cluster?.server), { method, headers, ...tls }, (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('error', reject)
        answer.on('end', () => {
          fulfil({ status: answer.statusCode ?? 0, body: bodyOf(Buffer.concat(chunks).toString('utf8')) })
        })
      })
      sent.on('error', reject)
      sent.end(body === undefined ? undefined : JSON.stringify(body))
    })
}

/** A page that is no object, or one object a line as watches send them, is told as its text. */
function bodyOf(text: string): Answer['body'] {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return { message: text }
    throw error
  }
}

async function pem(folder: string, inline: string | undefined, path: string | undefined): Promise<string> {
  if (inline !== undefined) return Buffer.from(inline, 'base64').toString('utf8')
  if (path === undefined) throw new Error('the kubeconfig names neither a file nor data for a certificate')
  return await readFile(resolve(folder, path), 'utf8')
}
