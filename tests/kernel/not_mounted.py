from django.urls import path
from django.views import View

urlpatterns = [path("shop/", View.as_view())]
