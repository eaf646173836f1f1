// Light, dark, or as the system has it; kept in this browser.

import { useSyncExternalStore } from 'react'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const key = 'slipway-theme'

export function storedTheme(): Theme {
  const kept = localStorage.getItem(key)
  return themes.find((theme) => theme === kept) ?? 'system'
}

export function showTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

export function keepTheme(theme: Theme): void {
  localStorage.setItem(key, theme)
  showTheme(theme)
}

/** For what is drawn by hand: a word that changes whenever colours do. */
export function useColours(): string {
  return useSyncExternalStore(watchColours, shownColours)
}

function shownColours(): string {
  const chosen = document.documentElement.dataset.theme
  return chosen ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')
}

function watchColours(changed: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)')
  const attribute = new MutationObserver(changed)
  system.addEventListener('change', changed)
  attribute.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
  return () => {
    system.removeEventListener('change', changed)
    attribute.disconnect()
  }
}
