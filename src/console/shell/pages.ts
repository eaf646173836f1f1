import type { GlyphName } from '../parts/glyph.tsx'

export interface PageLink {
  readonly path: string
  readonly title: string
  readonly glyph: GlyphName
}

export interface PageGroup {
  readonly title: string
  readonly pages: readonly PageLink[]
}

/** Now, Next, Past is the navigation; the keys 1 to 7 follow it. */
export const pageGroups: readonly PageGroup[] = [
  {
    title: 'Now',
    pages: [
      { path: '/fleet', title: 'Fleet', glyph: 'grid' },
      { path: '/update', title: 'Update', glyph: 'bars' },
      { path: '/why', title: 'Why', glyph: 'why' },
    ],
  },
  {
    title: 'Next',
    pages: [
      { path: '/plan', title: 'Plan', glyph: 'plan' },
      { path: '/budget', title: 'Budget & calendar', glyph: 'calendar' },
    ],
  },
  {
    title: 'Past',
    pages: [
      { path: '/backups', title: 'Backups', glyph: 'archive' },
      { path: '/history', title: 'History', glyph: 'clock' },
    ],
  },
]

export const pages = pageGroups.flatMap((group) => group.pages)

/** `/fleet/w-1` is on the page `/fleet`. */
export function pageOf(location: string): PageLink | undefined {
  return pages.find(({ path }) => location === path || location.startsWith(`${path}/`))
}
