// A page that fails takes no other with it: its files did not arrive, or it met what it could not show.

import { Component, type ReactNode } from 'react'
import { Button } from '../parts/button.tsx'
import { Card } from '../parts/card.tsx'
import { PageHead, Screen } from '../parts/screen.tsx'
import { ErrorState } from '../parts/states.tsx'

interface Props {
  readonly page: string
  readonly children: ReactNode
}

interface State {
  readonly error?: Error
}

/** To be keyed by the page: on another one it begins anew. */
export class PageBoundary extends Component<Props, State> {
  override state: State = {}

  static getDerivedStateFromError(error: unknown): State {
    return { error: error instanceof Error ? error : new Error(String(error)) }
  }

  override render(): ReactNode {
    const { error } = this.state
    if (!error) return this.props.children
    return (
      <Screen>
        <PageHead
          page={this.props.page}
          title="This page could not be shown"
          note="Nothing was changed in the cluster."
        />
        <Card>
          <ErrorState title={`${this.props.page} is not there`} error={error}>
            <Button kind="primary" onClick={() => location.reload()}>
              Load it again
            </Button>
          </ErrorState>
        </Card>
      </Screen>
    )
  }
}
