// Any spec that CUPCAKE's own definitions take. `sound` ones are such as its documents promise to carry out; the others also have
// any text at all where the definitions ask for a text.

import fc from 'fast-check'

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom('', '1.36.3', 'v1.36.3', 'latest-patch'),
)
const optional = { requiredKeys: [] }

/** Sound texts, and others among them where the manifest is not meant to be sound. */
const texts = (isSound: boolean, sound: fc.Arbitrary<string>, ...odd: readonly string[]): fc.Arbitrary<string> =>
  isSound ? sound : fc.oneof({ arbitrary: sound, weight: 3 }, anyText, ...(odd.length ? [fc.constantFrom(...odd)] : []))

const known = fc.constantFrom('kubeadm', 'kubelet', 'kubectl', 'containerd', 'etcd')
const strategy = fc.constantFrom('rolling', 'parallel', 'canary')
const concurrency = fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1 }))

const versions = (isSound: boolean) =>
  texts(isSound, fc.constantFrom('1.36.3', 'v1.35.4', '1.36.*', 'latest-patch'), 'latest', '1.27.4+k3s1', '1.28')

/** Whatever they are, the usual ones are taken in their place. */
const durations = fc.oneof(anyText, fc.constantFrom('2h', '30m', '1h30m', '90s', '0s', '1d', '-1h', '2 hours'))

const shared = (isSound: boolean) => ({
  strategy,
  concurrency,
  canary: fc.record(
    { enabled: fc.boolean(), nodes: fc.array(fc.oneof(fc.constantFrom('w1', 'w2'), anyText), { maxLength: 4 }) },
    optional,
  ),
  nodeSelector: fc.dictionary(
    texts(isSound, fc.constantFrom('pool', 'kubernetes.io/os', 'node-role.kubernetes.io/worker')),
    texts(isSound, fc.constantFrom('', 'a', 'linux')),
    { maxKeys: 4 },
  ),
  preflightChecks: fc.boolean(),
  airGapped: fc.record({ enabled: fc.boolean(), bundleConfigMap: anyText }, optional),
})

export const directSpecs = (isSound: boolean) =>
  fc.record(
    {
      targetVersion: versions(isSound),
      components: fc.array(known, { maxLength: 7 }),
      ...shared(isSound),
      dryRun: fc.boolean(),
      operationTimeout: durations,
      nodeTimeout: durations,
    },
    { requiredKeys: ['targetVersion'] },
  )

const instants = fc
  .date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .chain((date) =>
    fc.constantFrom(
      date.toISOString(),
      date.toISOString().toLowerCase(),
      date.toISOString().replace(/\.\d+Z$/, '+01:00'),
      date.toISOString().replace('Z', '123456789Z'),
    ),
  )

export const scheduledSpecs = (isSound: boolean) =>
  fc.record(
    {
      targetVersion: versions(isSound),
      scheduleAt: instants,
      components: fc.array(fc.oneof(known, anyText), { maxLength: 7 }),
      ...shared(isSound),
    },
    { requiredKeys: ['targetVersion', 'scheduleAt'] },
  )

const fields = fc
  .tuple(
    fc.constantFrom('0', '*', '*/15', '0,30', '5-10'),
    fc.constantFrom('2', '*', '0-6', '1,13', '*/7'),
    fc.constantFrom('*', '1', '?', '1-7', '28'),
    fc.constantFrom('*', '1', '6-8', 'jan'),
    fc.constantFrom('*', '6', 'MON', '1-5', '?'),
  )
  .map((parts) => parts.join(' '))
const lengths = fc
  .tuple(fc.integer({ min: 1, max: 999 }), fc.constantFrom('h', 'm', 's', 'ms'), fc.integer({ min: 0, max: 59 }))
  .map(([many, unit, rest]) => (unit === 'h' ? `${many}h${rest}m` : `${many}${unit}`))

/** Its pattern is not anchored, so that far more gets through than this. */
const soundSchedules = fc.oneof(
  fields,
  fields.map((five) => `0 ${five}`),
  fc.tuple(fc.constantFrom('0', '30', '*/10'), fields).map(([second, five]) => `${second} ${five} *`),
  fc.constantFrom('@yearly', '@annually', '@monthly', '@weekly', '@daily', '@hourly'),
  lengths.map((length) => `@every ${length}`),
)
const oddSchedules = fc.oneof(
  fc.constantFrom('@reboot', '12345', '@dailyXXX', '1 2 3 4 5 6 7', '@every so often', '0 0 2 1 * * 2030'),
  fc.tuple(anyText, fields).map(([junk, five]) => `${junk.replace(/\s+/g, '')} ${five}`),
)

export const scheduleSpecs = (isSound: boolean) =>
  fc.record(
    {
      schedule: isSound ? soundSchedules : fc.oneof({ arbitrary: soundSchedules, weight: 2 }, oddSchedules),
      updatePolicy: fc.record(
        {
          targetVersionPattern: versions(isSound),
          components: fc.array(fc.oneof(known, anyText), { maxLength: 7 }),
          ...{ strategy, concurrency, preflightChecks: fc.boolean() },
        },
        { requiredKeys: ['targetVersionPattern'] },
      ),
      suspended: fc.boolean(),
      maintenanceWindow: fc.record(
        {
          start: texts(isSound, fc.constantFrom('22:00', '2:00', '23:59'), '24:00'),
          end: texts(isSound, fc.constantFrom('04:00', '6:30', '24:00', '00:00'), '22:00'),
          timezone: texts(isSound, fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kathmandu'), 'Mars/Olympus'),
        },
        optional,
      ),
    },
    { requiredKeys: ['schedule', 'updatePolicy'] },
  )
