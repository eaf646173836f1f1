import { z } from 'zod'
import type { Disk } from '../ports/disk.ts'

export const pretendFolder = '/pretend'
const statePath = `${pretendFolder}/machine.json`

const stateSchema = z.object({
  /** Installed; the one that runs may be older until it is restarted. */
  kubelet: z.string(),
  apiServer: z.string().optional(),
  bootId: z.string(),
  lastPid: z.int(),
  /** What is booted, on a machine that boots from images. */
  osImage: z.object({ image: z.string(), digest: z.string() }).optional(),
})

/** What a pretend machine is, between two boots and between two lives of the program that pretends it. */
export interface PretendState {
  readonly kubelet: string
  readonly apiServer?: string
  readonly bootId: string
  readonly lastPid: number
  readonly osImage?: { readonly image: string; readonly digest: string }
}

export async function readPretendState(disk: Disk): Promise<PretendState | undefined> {
  const text = await disk.read(statePath)
  if (text === undefined || text === '') return undefined
  const { apiServer, osImage, ...state } = stateSchema.parse(JSON.parse(text))
  return { ...state, ...(apiServer !== undefined && { apiServer }), ...(osImage && { osImage }) }
}

export async function writePretendState(disk: Disk, state: PretendState): Promise<void> {
  await writeDurably(disk, statePath, `${JSON.stringify(state, undefined, 2)}\n`)
}

/** Atomic and safe against power loss. */
export async function writeDurably(disk: Disk, path: string, content: string): Promise<void> {
  const temporary = `${path}.new`
  await disk.write(temporary, content, 0o600)
  await disk.sync(temporary)
  await disk.rename(temporary, path)
  await disk.syncFolder(path.slice(0, path.lastIndexOf('/')))
}
