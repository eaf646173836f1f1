// How long runs took, one after the other: whether updates become slower is seen here before it is felt.

import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef } from 'react'
import UPlot from 'uplot'
import { Card } from '../../parts/card.tsx'
import { spanText } from '../../parts/instant.ts'
import styles from './durations-over-time.module.css'
import type { RunRow } from './run-rows.ts'

/** Fewer say nothing. */
const leastRuns = 3
const height = 180
/** Round lengths, in seconds, from ten seconds to a week. */
const steps = [10, 30, 60, 300, 600, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400, 604_800]
const days = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })

export function DurationsOverTime({ rows }: { readonly rows: readonly RunRow[] }) {
  const ended = rows.filter(({ finishedAt }) => finishedAt !== undefined)
  if (ended.length < leastRuns) return null
  const points = [...ended]
    .reverse()
    .map(({ startedAt, tookSeconds = 0 }) => [Date.parse(startedAt) / 1_000, tookSeconds] as const)
  const seconds = points.map(([, took]) => took)
  const said = `${points.length} runs took between ${spanText(Math.min(...seconds) * 1_000)} and ${spanText(Math.max(...seconds) * 1_000)}`
  return (
    <Card title="How long runs took" note={said}>
      <Curve points={points} said={said} />
    </Card>
  )
}

interface CurveProps {
  readonly points: readonly (readonly [number, number])[]
  readonly said: string
}

function Curve({ points, said }: CurveProps) {
  const place = useRef<HTMLDivElement>(null)
  const key = JSON.stringify(points)
  useEffect(() => {
    const element = place.current
    if (!element) return
    const data = JSON.parse(key) as CurveProps['points']
    let plot = drawn(element, data)
    const again = () => {
      plot.destroy()
      plot = drawn(element, data)
    }
    // Its colours are painted, so that another theme needs another painting.
    const themes = new MutationObserver(again)
    themes.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
    const system = matchMedia('(prefers-color-scheme: dark)')
    system.addEventListener('change', again)
    const sizes = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }))
    sizes.observe(element)
    return () => {
      themes.disconnect()
      sizes.disconnect()
      system.removeEventListener('change', again)
      plot.destroy()
    }
  }, [key])
  return <div ref={place} className={styles.curve} role="img" aria-label={said} />
}

function drawn(element: HTMLElement, points: CurveProps['points']): UPlot {
  const ink = (token: string) => paint(element, token)
  const axis = { stroke: ink('--text-3'), grid: { stroke: ink('--line'), width: 1 }, ticks: { show: false } }
  return new UPlot(
    {
      width: element.clientWidth,
      height,
      legend: { show: false },
      cursor: { show: false },
      scales: { y: { range: (_, __, most) => [0, most * 1.1] } },
      axes: [
        { ...axis, space: 90, values: (_, splits) => splits.map((seconds) => days.format(seconds * 1_000)) },
        {
          ...axis,
          size: 72,
          incrs: [...steps],
          values: (_, splits) => splits.map((seconds) => spanText(seconds * 1_000)),
        },
      ],
      series: [
        {},
        {
          stroke: ink('--text-2'),
          width: 1.5,
          points: { show: true, size: 7, fill: ink('--text'), stroke: ink('--text') },
        },
      ],
    },
    [points.map(([at]) => at), points.map(([, took]) => took)],
    element,
  )
}

/** The colour of a token as a canvas takes it. */
function paint(element: HTMLElement, token: string): string {
  const probe = document.createElement('i')
  probe.style.color = `var(${token})`
  element.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
