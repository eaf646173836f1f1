import { expect, it } from 'vitest'
import { type MemberLook, whyNotSaved } from './worth-saving.ts'

const member = (part: Partial<MemberLook> = {}): MemberLook => ({
  name: 'cp1',
  isLearner: false,
  readProblem: undefined,
  ...part,
  status: {
    header: { member_id: '1', cluster_id: '9', revision: '50' },
    version: '3.6.8',
    dbSize: '20480',
    leader: '1',
    raftIndex: '100',
    raftAppliedIndex: '100',
    ...part.status,
  },
})
const behind = { status: { ...member().status, raftAppliedIndex: '99' } }
const others = [
  { name: 'cp2', appliedIndex: '98' },
  { name: 'cp3', appliedIndex: '100' },
]

it.each([
  { name: 'one that is up to date', look: member(), others, alarms: [], code: undefined },
  { name: 'one that is alone', look: member(), others: [], alarms: [], code: undefined },
  { name: 'one that lags', look: member(behind), others, alarms: [], code: 'EtcdLagging' },
  {
    name: 'one that lags and cannot read',
    look: member({ ...behind, readProblem: 'timeout' }),
    others,
    alarms: [],
    code: 'EtcdLagging',
  },
  { name: 'a learner', look: member({ isLearner: true }), others, alarms: [], code: 'EtcdLearner' },
  {
    name: 'one without a majority',
    look: member({ readProblem: 'timeout' }),
    others,
    alarms: [],
    code: 'EtcdUnhealthy',
  },
  {
    name: 'one without a leader',
    look: member({ status: { ...member().status, leader: '0' } }),
    others,
    alarms: [],
    code: 'EtcdUnhealthy',
  },
  { name: 'a full etcd', look: member(), others, alarms: [{ memberID: '2', alarm: 'NOSPACE' }], code: 'EtcdAlarm' },
])('$name', ({ look, others: rest, alarms, code }) => {
  expect(whyNotSaved(look, rest, alarms)?.code).toBe(code)
})

it('compares numbers, not texts, of any size', () => {
  const huge = member({ status: { ...member().status, raftAppliedIndex: '9007199254740993' } })
  expect(whyNotSaved(huge, [{ name: 'cp2', appliedIndex: '9007199254740994' }], [])?.message).toContain(
    '1 entries behind',
  )
  expect(whyNotSaved(member(), [{ name: 'cp2', appliedIndex: '20' }], [])).toBeUndefined()
})
