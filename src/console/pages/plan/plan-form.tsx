// What to plan: the usual update by two fields, one that is there already, or any manifest.

import { type ChangeEvent, type FormEvent, useState } from 'react'
import type { PlanRequest } from '../../../api/console.ts'
import { useLive } from '../../live/use-live.tsx'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { CommandLine } from '../../parts/command-line.tsx'
import { Segments } from '../../parts/segments.tsx'
import text from '../../parts/text.module.css'
import { inOrder, isEnded, updateLook } from '../../parts/update-look.ts'
import { manifestOf, nameFor, strategies, type UsualUpdate } from './manifest.ts'
import styles from './plan-form.module.css'

type Source = 'usual' | 'existing' | 'manifest'

const sources = [
  { value: 'usual', label: 'Kubernetes version' },
  { value: 'existing', label: 'Existing update' },
  { value: 'manifest', label: 'Manifest' },
] as const

const explained: Readonly<Record<UsualUpdate['strategy'], string>> = {
  Rolling: 'one wave, so many nodes at a time',
  Canary: 'one node, a soak and an approval, then 10%, then all',
  Batches: 'in quarters',
  Parallel: 'all at once, as far as the budgets allow',
}

export function PlanForm({ onPlan }: { readonly onPlan: (request: PlanRequest) => void }) {
  const [source, setSource] = useState<Source>('usual')
  const [usual, setUsual] = useState<UsualUpdate>({ name: '', version: '', strategy: 'Rolling', maxUnavailable: '' })
  const [pasted, setPasted] = useState('')
  const [existing, setExisting] = useState('')
  const updates = useLive((state) => state.updates) ?? {}
  const open = inOrder(updates).filter(({ phase }) => !isEnded(phase) && phase !== 'Deleting')
  const name = usual.name === '' ? nameFor(usual.version) : usual.name
  const request = requestOf(source, { ...usual, name }, pasted, existing || open[0]?.name)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (request) onPlan(request)
  }
  return (
    <form onSubmit={submit} className={styles.form}>
      <Card title="Plan" aside={<Segments label="Plan what" segments={sources} value={source} onChange={setSource} />}>
        <div className={styles.body}>
          {source === 'usual' && <Usual usual={usual} name={name} onChange={setUsual} />}
          {source === 'existing' && (
            <label className={styles.field}>
              Update
              <select
                value={existing}
                onChange={({ target }) => setExisting(target.value)}
                disabled={open.length === 0}
              >
                {open.map((update) => (
                  <option key={update.name} value={update.name}>
                    {update.name}, {updateLook(update.phase).label}, to {update.target}
                  </option>
                ))}
                {open.length === 0 && <option value="">none that has not ended</option>}
              </select>
            </label>
          )}
          {source === 'manifest' && <Pasted manifest={pasted} onChange={setPasted} />}
          {source === 'usual' && request?.manifest !== undefined && (
            <div className={styles.field}>
              Its manifest
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keyboard */}
              <pre className={styles.manifest} tabIndex={0}>
                {request.manifest}
              </pre>
            </div>
          )}
          <div className={text.row}>
            <Button type="submit" kind="primary" glyph="plan" disabled={request === undefined}>
              Rehearse it
            </Button>
            <div className={styles.command}>
              <CommandLine command={commandOf(source, usual)} />
            </div>
          </div>
        </div>
      </Card>
    </form>
  )
}

interface UsualProps {
  readonly usual: UsualUpdate
  readonly name: string
  readonly onChange: (usual: UsualUpdate) => void
}

function Usual({ usual, name, onChange }: UsualProps) {
  const running = useLive((state) => state.cluster.kubernetes)
  const set = (field: keyof UsualUpdate) => (event: ChangeEvent<HTMLInputElement | HTMLSelectElement>) =>
    onChange({ ...usual, [field]: event.target.value })
  return (
    <div className={styles.fields}>
      <label className={styles.field}>
        Kubernetes version
        <input value={usual.version} onChange={set('version')} placeholder="v1.36.3" required spellCheck={false} />
        <span className={text.quiet}>now {running ?? 'unknown'}; 1.36.* takes the newest on offer</span>
      </label>
      <label className={styles.field}>
        Name
        <input value={usual.name} onChange={set('name')} placeholder={name || 'to-1-36-3'} spellCheck={false} />
        <span className={text.quiet}>by default from the version</span>
      </label>
      <label className={styles.field}>
        Strategy
        <select value={usual.strategy} onChange={set('strategy')}>
          {strategies.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        <span className={text.quiet}>{explained[usual.strategy]}</span>
      </label>
      <label className={styles.field}>
        At once, at most
        <input
          value={usual.maxUnavailable}
          onChange={set('maxUnavailable')}
          placeholder="1, or 10%"
          spellCheck={false}
        />
        <span className={text.quiet}>the policy’s budgets hold on top</span>
      </label>
    </div>
  )
}

function Pasted({ manifest, onChange }: { readonly manifest: string; readonly onChange: (manifest: string) => void }) {
  const pick = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const [file] = target.files ?? []
    if (file) onChange(await file.text())
  }
  return (
    <>
      <label className={styles.field}>
        Manifest of a DirectUpdate, ScheduledUpdate or UpdateSchedule
        <textarea
          rows={14}
          value={manifest}
          onChange={({ target }) => onChange(target.value)}
          placeholder={'apiVersion: slipway.dev/v1alpha1\nkind: DirectUpdate\n…'}
          spellCheck={false}
        />
      </label>
      <label className={styles.field}>
        Or a file
        <input type="file" accept=".yaml,.yml,.json" onChange={pick} />
      </label>
    </>
  )
}

function requestOf(source: Source, usual: UsualUpdate, pasted: string, existing?: string): PlanRequest | undefined {
  switch (source) {
    case 'usual':
      return usual.version.trim() === '' || usual.name === '' ? undefined : { manifest: manifestOf(usual) }
    case 'existing':
      return existing === undefined ? undefined : { update: existing }
    case 'manifest':
      return pasted.trim() === '' ? undefined : { manifest: pasted }
  }
}

function commandOf(source: Source, { version, strategy, maxUnavailable }: UsualUpdate): string {
  if (source !== 'usual') return 'slipway plan -f update.yaml'
  const most = maxUnavailable.trim()
  return [
    `slipway plan --kubernetes ${version.trim() || 'VERSION'}`,
    ...(strategy === 'Rolling' ? [] : [`--strategy ${strategy}`]),
    ...(most === '' ? [] : [`--max-unavailable ${most}`]),
  ].join(' ')
}
