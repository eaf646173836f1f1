import type { FindKernelArguments } from '../profile/kernel-arguments-work.ts'
import { changeKernelArguments, readKernelArguments } from './kernel-arguments.ts'

/** The kernel arguments of this host's next boot; undefined where nothing here knows its boot loader. */
export const findKernelArguments: FindKernelArguments = async (host, signal) => {
  if ((await readKernelArguments(host, signal)) === undefined) return undefined
  return {
    list: async (stop) => (await readKernelArguments(host, stop)) ?? [],
    change: ({ add, remove }, stop) => changeKernelArguments(host, { add: [...add], remove: [...remove] }, stop),
  }
}
