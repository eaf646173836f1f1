// Keys that work everywhere: / to the filter, 1 to 7 to the pages. Not while one types, and not under a dialog.

import { useEffect } from 'react'
import { pages } from './pages.ts'

export function useKeys(go: (path: string) => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
      const target = event.target as HTMLElement
      if (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) {
        if (event.key === 'Escape') target.blur()
        return
      }
      if (document.querySelector('[role=alertdialog],[role=dialog]')) return
      if (event.key === '/') {
        event.preventDefault()
        document.querySelector<HTMLInputElement>('[data-find]')?.focus()
      }
      const page = /^[1-9]$/.test(event.key) ? pages[Number(event.key) - 1] : undefined
      if (page) go(page.path)
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [go])
}
