// The KubeApi port's contract. It runs on the simulator and on a real API server (with its controller manager), so that
// neither implementation can drift from the other.

import { afterAll, afterEach, beforeAll, beforeEach, describe } from 'vitest'
import { type ContractApi, ContractBed } from './contract-bed.ts'
import { customKindsContract } from './custom-kinds-contract.ts'
import { deletionContract } from './deletion-contract.ts'
import { evictionContract } from './eviction-contract.ts'
import { objectsContract } from './objects-contract.ts'
import { storageContract } from './storage-contract.ts'
import { watchesContract } from './watches-contract.ts'

export function kubeApiContract(name: string, makeApi: () => Promise<ContractApi>): void {
  describe(`the KubeApi contract on ${name}`, { timeout: 60_000 }, () => {
    let contract: ContractApi
    let bed: ContractBed
    beforeAll(async () => {
      contract = await makeApi()
    })
    afterAll(() => contract.close())
    beforeEach(async () => {
      bed = await ContractBed.open(contract.api)
    })
    afterEach(() => bed.close())

    describe('objects', () => objectsContract(() => bed))
    describe('watches', () =>
      watchesContract(
        () => bed,
        () => contract.forgetHistory(),
      ))
    describe('deletion', () => deletionContract(() => bed))
    describe('eviction', () => evictionContract(() => bed))
    describe('storage', () => storageContract(() => bed))
    describe('custom kinds', () => customKindsContract(() => bed))
  })
}
