// The glyph set: 16 by 16, drawn in the ink around it. A phase has its own glyph, so that colour never says a thing alone.

import type { ReactNode } from 'react'
import styles from './glyph.module.css'

const drawings = {
  Pending: <circle cx="8" cy="8" r="1.6" fill="currentColor" />,
  Staging: <path d="M8 2.5v7.5M4.8 7 8 10.2 11.2 7M3.5 13.3h9" />,
  Cordoned: <path d="M2 5.5h12v4H2zM4.5 9.5v4M11.5 9.5v4M6 5.5l-2 4M11 5.5l-2 4" />,
  Draining: <path d="M6 3H2.8v10H6M6.5 8h7M10.5 5l3 3-3 3" />,
  Assigned: <path d="M4 2.5h8v11H4zM6.5 6h3M6.5 9h3" />,
  Working: (
    <>
      <path d="M8 1.8 13.4 5v6L8 14.2 2.6 11V5z" />
      <circle cx="8" cy="8" r="2.1" />
    </>
  ),
  Verifying: (
    <>
      <circle cx="7" cy="7" r="4.3" />
      <path d="m10.3 10.3 3.4 3.4" />
    </>
  ),
  Uncordoning: <path d="M10 3h3.2v10H10M2.5 8H9M6 5l3 3-3 3" />,
  Done: <path d="m3 8.6 3.3 3.2L13 4.6" />,
  Failed: <path d="m4 4 8 8M12 4l-8 8" />,
  RequiresAttention: <path d="M8 3v6M8 12.6v.2" strokeWidth="2.4" />,
  RollingBack: <path d="M3.2 8a4.8 4.8 0 1 0 1.6-3.6L3 6M3 2.6V6h3.4" />,
  RolledBack: <path d="M6 3 3 6l3 3M3 6h6.2a3.6 3.6 0 0 1 0 7.2H6" />,
  Skipped: <path d="M3.5 12.5 12.5 3.5" />,
  Idle: <path d="M6 8h4" />,
  NotReady: <path d="M8 2.2v5M4.7 4.4a5 5 0 1 0 6.6 0" />,
  grid: <path d="M2.5 2.5h4v4h-4zM9.5 2.5h4v4h-4zM2.5 9.5h4v4h-4zM9.5 9.5h4v4h-4z" />,
  bars: <path d="M2.5 4h6M5 8h6M8 12h5.5" strokeWidth="2.2" />,
  why: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M6.3 6.4a1.8 1.8 0 1 1 2.4 1.7c-.5.2-.7.5-.7 1M8 11.3v.1" />
    </>
  ),
  plan: <path d="m2.5 4 1.2 1.2L6 3M2.5 11l1.2 1.2L6 10M8.5 4.5h5M8.5 11.5h5" />,
  calendar: <path d="M2.5 3.5h11v10h-11zM2.5 6.8h11M5.5 2v2.4M10.5 2v2.4" />,
  clock: (
    <>
      <circle cx="8" cy="8" r="5.8" />
      <path d="M8 4.8V8l2.2 1.5" />
    </>
  ),
  archive: <path d="M2.5 3h11v3.2h-11zM3.5 6.2v6.8h9V6.2M6.5 9h3" />,
  sun: (
    <>
      <circle cx="8" cy="8" r="2.6" />
      <path d="M8 1.8v1.4M8 12.8v1.4M1.8 8h1.4M12.8 8h1.4M3.6 3.6l1 1M11.4 11.4l1 1M12.4 3.6l-1 1M4.6 11.4l-1 1" />
    </>
  ),
  moon: <path d="M13 9.6A5.5 5.5 0 0 1 6.4 3a5.5 5.5 0 1 0 6.6 6.6z" />,
  system: (
    <>
      <circle cx="8" cy="8" r="5.8" />
      <path d="M8 2.2a5.8 5.8 0 0 1 0 11.6z" fill="currentColor" />
    </>
  ),
  stop: <path d="M5.5 2h5L14 5.5v5L10.5 14h-5L2 10.5v-5zM6 8h4" />,
  play: <path d="M5 3.2v9.6L12.6 8z" />,
  pause: <path d="M5.5 3.5v9M10.5 3.5v9" strokeWidth="2" />,
  person: (
    <>
      <circle cx="8" cy="5" r="2.6" />
      <path d="M3 13.5c.6-2.8 2.6-4.2 5-4.2s4.4 1.4 5 4.2" />
    </>
  ),
  find: (
    <>
      <circle cx="7" cy="7" r="4.3" />
      <path d="m10.3 10.3 3.2 3.2" />
    </>
  ),
  copy: <path d="M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3" />,
  chevron: <path d="m5 6.5 3 3 3-3" />,
  offline: (
    <path d="M2 2l12 12M4 9.2a5.6 5.6 0 0 1 2.4-1.4M9.4 7.7A5.6 5.6 0 0 1 12 9.2M1.8 6.8A9 9 0 0 1 4.4 5M8 4a9 9 0 0 1 6.2 2.8M8 12.4v.1" />
  ),
  live: <circle cx="8" cy="8" r="3" fill="currentColor" />,
  slots: <path d="M2.5 4h3v8h-3zM6.5 4h3v8h-3zM10.5 4h3v8h-3z" />,
  pod: <path d="M8 2 13.2 5v6L8 14 2.8 11V5zM2.8 5 8 8l5.2-3M8 8v6" />,
  shield: <path d="M8 1.8 13 4v4c0 3-2.2 5.2-5 6.2C5.2 13.2 3 11 3 8V4z" />,
  download: <path d="M8 2.5v7.5M4.8 7 8 10.2 11.2 7M3 13.3h10" />,
} as const satisfies Readonly<Record<string, ReactNode>>

export type GlyphName = keyof typeof drawings

/** Says nothing to a screen reader: the words beside it do. */
export function Glyph({ name, className }: { readonly name: GlyphName; readonly className?: string | undefined }) {
  return (
    <svg className={className ? `${styles.glyph} ${className}` : styles.glyph} viewBox="0 0 16 16" aria-hidden="true">
      {drawings[name]}
    </svg>
  )
}

export function Logo({ className }: { readonly className?: string | undefined }) {
  return (
    <svg className={className ? `${styles.glyph} ${className}` : styles.glyph} viewBox="0 0 20 20" aria-hidden="true">
      <path d="M2 16.5 18 11" strokeWidth="1.8" />
      <path d="M4.2 12.6 3.4 8l13.4-4.4c.4 2.4-.9 4.6-3.2 5.6z" fill="currentColor" strokeWidth="1.2" />
    </svg>
  )
}
