from django.http import JsonResponse

from tests.organization.shop.models import Project


def names(request):
    """All rows: `.of(request.organization)` was forgotten."""
    return JsonResponse(
        list(Project.objects.order_by("name").values_list("name", flat=True)), safe=False
    )


def rename(request):
    renamed = Project.objects.update(name="taken")
    return JsonResponse(renamed, safe=False, status=int(request.GET.get("status", 200)))


def create(request):
    """The organization comes from the client, although nobody may choose it."""
    Project.objects.create(name="planted", organization_id=request.GET["organization"])
    return JsonResponse({})
