// Situations in which a node of the control plane waits for a backup of etcd.

import type { BackupStoreSpec } from '../../src/api/backup.ts'
import type { DirectUpdateSpec } from '../../src/api/direct-update.ts'
import type { ReasonCode } from '../../src/api/reason.ts'
import { profileStory } from './profile-story.ts'
import type { Story } from './story.ts'
import type { Situation } from './why-asking.ts'

const target = 'v1.36.3'
const here: BackupStoreSpec = { name: 'here', path: '/var/backups' }
const far: BackupStoreSpec = { name: 'far', s3: { bucket: 'backups', secret: 'far-keys' } }

type Phase = 'Pending' | 'InProgress' | 'RequiresAttention'

const waits =
  (phase: Phase, code: ReasonCode, stores: readonly BackupStoreSpec[], backup: DirectUpdateSpec['backup'] = {}) =>
  async ({ person, update }: Story) => {
    await person.setsPolicy({ backupStores: [...stores] })
    await update.kubernetes(target, { backup }).is(phase, code)
  }

const asked = (code: ReasonCode, names: RegExp) => [
  { of: 'cp1', code, names },
  { of: 'update', code, names },
]

export const backupSituations: readonly Situation[] = [
  {
    name: 'a backup is being made',
    arrange: waits('InProgress', 'BackupRunning', [here]),
    asked: asked('BackupRunning', /a backup of etcd is/),
  },
  {
    name: 'the store of the backup is down',
    options: { stores: { trouble: () => ({ code: 'StepFailed', message: 'connection refused' }) } },
    arrange: waits('RequiresAttention', 'BackupFailed', [here]),
    asked: asked('BackupFailed', /failed 3 times \(on cp1\), the last time: connection refused \(store here\)/),
  },
  {
    name: 'no host can make a backup',
    arrange: waits('InProgress', 'BackupHostMissing', [far]),
    asked: asked('BackupHostMissing', /cp1 has published no key yet that Secrets could be sealed to/),
  },
  {
    name: 'the Secret of a backup store is missing',
    options: profileStory(4),
    arrange: waits('InProgress', 'BackupSecretMissing', [far]),
    asked: asked('BackupSecretMissing', /Secret far-keys of the backup store is not in namespace slipway-system/),
  },
  {
    name: 'an update must have a backup, and there is no store',
    arrange: waits('Pending', 'BackupStoreMissing', [], { etcd: 'Required' }),
    asked: asked('BackupStoreMissing', /spec.backupStores of MaintenancePolicy\/default names no store/),
  },
]
