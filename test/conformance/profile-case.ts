import { findKernelArguments } from '../../src/agent/drivers/kernel-arguments/find-kernel-arguments.ts'
import { profileDriver } from '../../src/agent/drivers/profile/profile-driver.ts'
import { Turn } from '../../src/agent/turn.ts'
import type { NodeProfileSpec } from '../../src/api/node-profile.ts'
import { SlipwayError } from '../../src/api/slipway-error.ts'
import { canonicalJson } from '../../src/core/fingerprint.ts'
import { nodeProfile, stateOf } from '../samples/profiles.ts'
import { type ConformanceCase, contentOf } from './conformance-case.ts'
import { stateDir } from './life-plan.ts'

/** A case of the profile driver: what the profile asks for, and the rest as each case has it. */
export function profileCase(
  name: string,
  spec: NodeProfileSpec,
  part: Pick<ConformanceCase, 'tool' | 'seeds' | 'setUp' | 'isKeptAtShutdown' | 'isDone' | 'check'>,
): ConformanceCase {
  const text = canonicalJson(stateOf(nodeProfile('base', spec)))
  return {
    name: `profile (${name})`,
    driver: profileDriver({
      stateDir,
      turn: new Turn(),
      open: () => Promise.reject(new SlipwayError('SecretUnreadable', 'nothing is secret here')),
      findKernelArguments,
      now: () => new Date(),
    }),
    contents: [text],
    order: () => Promise.resolve({ work: { profile: { profiles: ['base'], desired: contentOf(text) } } }),
    ...part,
  }
}
