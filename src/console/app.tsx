// The pages and their addresses. Addresses stand after the #, so that one file serves them all.

import { lazy } from 'react'
import { Redirect, Route, Router, Switch } from 'wouter'
import { useHashLocation } from 'wouter/use-hash-location'
import { FleetPage } from './pages/fleet-page.tsx'
import { Shell } from './shell/shell.tsx'

const UpdatePage = lazy(() => import('./pages/update-page.tsx').then(({ UpdatePage }) => ({ default: UpdatePage })))
const WhyPage = lazy(() => import('./pages/why-page.tsx').then(({ WhyPage }) => ({ default: WhyPage })))
const PlanPage = lazy(() => import('./pages/plan-page.tsx').then(({ PlanPage }) => ({ default: PlanPage })))
const BudgetPage = lazy(() => import('./pages/budget-page.tsx').then(({ BudgetPage }) => ({ default: BudgetPage })))
const BackupsPage = lazy(() => import('./pages/backups-page.tsx').then(({ BackupsPage }) => ({ default: BackupsPage })))
const HistoryPage = lazy(() => import('./pages/history-page.tsx').then(({ HistoryPage }) => ({ default: HistoryPage })))

export function App({ tryNow }: { readonly tryNow: () => void }) {
  return (
    <Router hook={useHashLocation}>
      <Shell tryNow={tryNow}>
        <Switch>
          <Route path="/fleet/:node?" component={FleetPage} />
          <Route path="/update/:update?/:node?" component={UpdatePage} />
          <Route path="/why/:cause?" component={WhyPage} />
          <Route path="/plan/:plan?" component={PlanPage} />
          <Route path="/budget" component={BudgetPage} />
          <Route path="/backups" component={BackupsPage} />
          <Route path="/history/:run?" component={HistoryPage} />
          <Route>
            <Redirect to="/fleet" />
          </Route>
        </Switch>
      </Shell>
    </Router>
  )
}
