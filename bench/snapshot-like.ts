import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SeededRandom } from '../src/sim/seeded-random.ts'

/** Where a bench on a server of S3 stores it. */
export const benchBucket = 'bench'

export const blockBytes = 4 * 1024 * 1024
export const pieceBytes = 32 * 1024

/** Objects as etcd keeps them: much that is alike, and in each something that is not. It repeats further away than zstd looks. */
export function snapshotBlock(): Buffer {
  const random = new SeededRandom(1)
  const drawn = (letters: number) =>
    Array.from({ length: letters }, () => Math.floor(random.next() * 16).toString(16)).join('')
  const block = Buffer.alloc(blockBytes)
  for (let at = 0; at < blockBytes; ) {
    const name = `app-${drawn(3)}-${drawn(10)}-${drawn(5)}`
    const text = `/registry/pods/shop-${drawn(1)}/${name}\0k8s\0v1\0Pod\0{"metadata":{"name":"${name}","uid":"${drawn(8)}-${drawn(4)}-${drawn(4)}-${drawn(12)}","labels":{"app":"app-${drawn(3)}","pod-template-hash":"${drawn(10)}"},"managedFields":[{"manager":"kubelet","operation":"Update","fieldsV1":{"f:status":{"f:conditions":{}}}}]},"spec":{"containers":[{"name":"main","image":"registry.example/app@sha256:${drawn(64)}","resources":{"requests":{"cpu":"100m","memory":"128Mi"}}}],"nodeName":"node-${drawn(2)}","serviceAccountName":"default"},"status":{"phase":"Running","podIP":"10.${drawn(2)}.${drawn(2)}.${drawn(2)}","startTime":"2026-01-01T00:00:00Z"}}`
    at += block.write(text, at, 'latin1')
  }
  return block
}

/** The block, and the same as etcd's gateway sends it: whoever reads them from there needs no memory for them. */
export const blockFile = (folder: string) => join(folder, 'block')
export const linesFile = (folder: string) => join(folder, 'lines')

export function writeSnapshotFiles(folder: string, block: Buffer): void {
  const lines = []
  for (let at = 0; at < blockBytes; at += pieceBytes) {
    const blob = block.toString('base64', at, at + pieceBytes)
    lines.push(`{"result":{"remaining_bytes":"1","blob":"${blob}","version":"3.6.8"}}\n`)
  }
  writeFileSync(blockFile(folder), block)
  writeFileSync(linesFile(folder), lines.join(''))
}
