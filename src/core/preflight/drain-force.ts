import { drainOf } from '../drain/drain-policy.ts'
import { type CheckView, type Finding, failed, warned } from './check.ts'

/** A pod that can never be evicted holds a drain up for ever, unless the settings delete by force what is left in the end. */
export function blocked({ spec, policy }: CheckView): (message: string) => Finding {
  const { onTimeout } = drainOf(policy?.drain, spec.drain)
  return onTimeout === 'Force' ? (message) => warned(`${message}; drain.onTimeout Force will delete the pods`) : failed
}
